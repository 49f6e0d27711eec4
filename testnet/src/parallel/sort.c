/* Sorts integers over and over, as the kernel IS of the NAS benchmarks does: `sort BITS TIMES`
 * makes 2^BITS keys TIMES times, sends each to the rank that owns its range (all to all), and sums
 * up each key times its place in the sorted order. With -DSERIAL one process does the same by
 * qsort, without MPI: what is compared with.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGE (1u << 19)

/* The key at a place of the unsorted order (splitmix64). */
static uint32_t key(uint64_t place, uint64_t turn)
{
    uint64_t z = (place * 64 + turn) * 0x9e3779b97f4a7c15u + 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) % RANGE);
}

static void *room(size_t bytes)
{
    void *got = calloc(bytes ? bytes : 1, 1);
    if (!got) {
        fputs("sort: no memory\n", stderr);
        exit(1);
    }
    return got;
}

#ifdef SERIAL

static int ascending(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

static uint64_t sorted(uint64_t all, uint64_t turn)
{
    uint64_t sum = 0;
    uint32_t *keys = room(all * sizeof *keys);
    for (uint64_t i = 0; i < all; i++)
        keys[i] = key(i, turn);
    qsort(keys, all, sizeof *keys, ascending);
    for (uint64_t i = 0; i < all; i++)
        sum += keys[i] * (i + 1);
    free(keys);
    return sum;
}

#else
#include <mpi.h>

static int rank, size;

static int owner(uint32_t key)
{
    return (int)((uint64_t)key * size / RANGE);
}

/* Where each rank's part begins, of so many for each; returns how many there are. */
static int starts(const int *counts, int *from)
{
    int all = 0;
    for (int i = 0; i < size; i++) {
        from[i] = all;
        all += counts[i];
    }
    return all;
}

static uint64_t sorted(uint64_t all, uint64_t turn)
{
    uint64_t first = all * rank / size, end = all * (rank + 1) / size;
    int *counts = room(4 * size * sizeof *counts);
    int *out_from = counts + size, *in_counts = counts + 2 * size, *in_from = counts + 3 * size;
    for (uint64_t i = first; i < end; i++)
        counts[owner(key(i, turn))]++;
    uint32_t *out = room(starts(counts, out_from) * sizeof *out);
    int *next = room(size * sizeof *next);
    memcpy(next, out_from, size * sizeof *next);
    for (uint64_t i = first; i < end; i++) {
        uint32_t k = key(i, turn);
        out[next[owner(k)]++] = k;
    }
    MPI_Alltoall(counts, 1, MPI_INT, in_counts, 1, MPI_INT, MPI_COMM_WORLD);
    int mine = starts(in_counts, in_from);
    uint32_t *in = room(mine * sizeof *in), *times = room(RANGE * sizeof *times);
    MPI_Alltoallv(out, counts, out_from, MPI_UINT32_T, in, in_counts, in_from, MPI_UINT32_T,
                  MPI_COMM_WORLD);
    for (int i = 0; i < mine; i++)
        times[in[i]]++;
    uint64_t own = mine, before = 0, sum = 0, total = 0;
    MPI_Exscan(&own, &before, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    uint64_t place = rank ? before : 0;
    for (uint32_t k = 0; k < RANGE; k++)
        for (; times[k]; times[k]--)
            sum += k * ++place;
    MPI_Allreduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    free(counts);
    free(out);
    free(next);
    free(in);
    free(times);
    return total;
}

#endif

int main(int count, char **words)
{
#ifndef SERIAL
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#else
    int rank = 0;
#endif
    if (count != 3) {
        fputs("usage: sort BITS TIMES\n", stderr);
        return 2;
    }
    int bits = atoi(words[1]), times = atoi(words[2]);
    if (bits < 1 || bits > 28 || times < 1 || times > 64) {
        fputs("sort: 1 to 28 bits, 1 to 64 times\n", stderr);
        return 2;
    }
    uint64_t sum = 0;
    for (int turn = 0; turn < times; turn++)
        sum = sum * 31 + sorted((uint64_t)1 << bits, turn);
    if (!rank)
        printf("2^%d keys, %d times: %016llx\n", bits, times, (unsigned long long)sum);
#ifndef SERIAL
    MPI_Finalize();
#endif
    return 0;
}
