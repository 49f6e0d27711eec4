/* Adds the ranks' squares by way of all of them, and tells on which hosts they are. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct sum {
    int squares;
    char hosts[1020];
};

int main(int count, char **words)
{
    int rank, size;
    struct sum sum = { 0, "" };
    char host[64] = "";
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    gethostname(host, sizeof host - 1);
    if (rank)
        MPI_Recv(&sum, sizeof sum, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum.squares += rank * rank;
    size_t long_yet = strlen(sum.hosts);
    snprintf(sum.hosts + long_yet, sizeof sum.hosts - long_yet, " %s", host);
    MPI_Send(&sum, sizeof sum, MPI_BYTE, (rank + 1) % size, 0, MPI_COMM_WORLD);
    if (!rank) {
        MPI_Recv(&sum, sizeof sum, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d of %d on%s\n", sum.squares, size, sum.hosts);
    }
    MPI_Finalize();
    return 0;
}
