// Light in bands: N.L picks a colour from c10 on, as many bands as c8.x says.
vs_2_0
dcl_position v0
dcl_normal v1
def c9, 0.0, 0.0, 0.0, 0.0
m4x4 oPos, v0, c0           // object to clip space
dp3 r0.x, v1, c7            // c7 points at the light
max r0.x, r0.x, c9.x
mul r0.x, r0.x, c8.x
mova a0.x, r0.x             // rounds to nearest
mov oD0, c[a0.x + 10]
