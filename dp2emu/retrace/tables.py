"""All tables of methods: importing this registers them."""

import dp2emu.retrace.common  # noqa: F401
