/*
 * The program that writes the records of a ring to a file: ring_program FILE CALLS EVERY
 *
 * A real one maps the driver's memory and takes records on a timer.  Here the driver is linked in,
 * makes CALLS calls, and the program takes what is there after EVERY calls and at the end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ring_driver.h"

static dp2ring ring;

static int to_file(void *to, const void *data, size_t size)
{
    return fwrite(data, 1, size, (FILE *)to) == size;
}

int main(int count, char **arguments)
{
    static dp2ring_reader reader;
    FILE *file = count == 4 ? fopen(arguments[1], "wb") : NULL;
    unsigned int i, calls, every;
    int good;
    if (!file)
        return 2;
    calls = (unsigned int)atol(arguments[2]);
    every = (unsigned int)atol(arguments[3]);
    driver_attach(&ring);
    driver_begin();
    dp2ring_start(&reader, &ring, to_file, file);
    for (i = 1, good = 1; i <= calls && good; i++) {
        driver_clear(2 * i, i);
        if (i % every == 0)
            good = dp2ring_take(&reader);
    }
    good = good && dp2ring_take(&reader);
    dp2ring_finish(&reader);
    return fclose(file) || !good || reader.log.failed;
}
