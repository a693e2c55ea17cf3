/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose layouts and names are hard in some way; expected.txt lists what must be read from any image of them. */
struct Pair {
	float *p;
	int n;
};
struct Odd {
	char bytes[13];
};
struct Large {
	char bytes[5000];
};

__global__ void saxpy(float a, const float *x, float *y, int n)
{
	y[n] = a * x[n];
}
extern "C" __global__ void plain(Pair s, short h, double d, Odd o)
{
	s.p[h] = (float)d + o.bytes[12];
}
template <class T> __global__ void copy(T *to, const T *from)
{
	to[threadIdx.x] = from[threadIdx.x];
}
template __global__ void copy<float>(float *, const float *);
template __global__ void copy<Pair>(Pair *, const Pair *);
namespace ns
{
template <class... T> __global__ void many(int *out, T... in)
{
	*out = (int)sizeof...(in);
}
template __global__ void many<const float *, char, float *>(int *, const float *, char, float *);
static __global__ void hidden(float4 *v, unsigned char c)
{
	v[c].x = 1;
}
}
__global__ void large(Large b, int *out)
{
	*out = b.bytes[4999];
}
__global__ void nothing()
{
}
void use()
{
	ns::hidden<<<1, 1>>>(0, 0);
}
