/* Rank 0 asks rank 1 for an echo ten times a second, until it is told to end. With a number of
 * ranks as argument each of them asks all others. The asking rank prints of each question when it
 * was sent (milliseconds since 1970), the microseconds to the answer, or `-` if none came within
 * two seconds, and the rank that was asked.
 */
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define KEPT 64
#define STEP 100000
#define LOST 2000000

struct asked {
    int64_t at, took;
};

static int64_t now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int bound(const char *name, struct sockaddr_storage *to, socklen_t *length)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM}, *found;
    if (getaddrinfo(name, "7007", &hints, &found)) {
        fprintf(stderr, "echo: no address of %s\n", name);
        exit(1);
    }
    memcpy(to, found->ai_addr, *length = found->ai_addrlen);
    return socket(AF_INET, SOCK_DGRAM, 0);
}

static void serve(const char *own_name)
{
    struct sockaddr_storage own, from;
    socklen_t length;
    int fd = bound(own_name, &own, &length);
    if (bind(fd, (struct sockaddr *)&own, length)) {
        perror("echo");
        exit(1);
    }
    for (char text[64];;) {
        length = sizeof from;
        ssize_t got = recvfrom(fd, text, sizeof text, 0, (struct sockaddr *)&from, &length);
        if (got > 0)
            sendto(fd, text, got, 0, (struct sockaddr *)&from, length);
    }
}

static void ask(int rank)
{
    char name[32];
    snprintf(name, sizeof name, "rank%d", rank);
    struct sockaddr_storage to;
    socklen_t length;
    int fd = bound(name, &to, &length);
    struct asked open[KEPT] = {{0}};
    uint64_t first = 0, next = 0;
    int64_t due = now(CLOCK_MONOTONIC), shift = now(CLOCK_REALTIME) - due;
    for (;;) {
        int64_t t = now(CLOCK_MONOTONIC), wait = due - t;
        if (wait <= 0 && next - first < KEPT) {
            open[next % KEPT] = (struct asked){.at = t, .took = -1};
            sendto(fd, &next, sizeof next, 0, (struct sockaddr *)&to, length);
            next++;
            due += STEP;
            continue;
        }
        struct timeval patience = {.tv_usec = wait > 0 ? wait : 1};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        uint64_t number;
        ssize_t got = recv(fd, &number, sizeof number, 0);
        t = now(CLOCK_MONOTONIC);
        if (got == sizeof number && number >= first && number < next)
            open[number % KEPT].took = t - open[number % KEPT].at;
        for (; first < next && t - open[first % KEPT].at >= LOST; first++) {
            struct asked *old = &open[first % KEPT];
            printf("%lld ", (long long)(old->at + shift) / 1000);
            if (old->took < 0)
                printf("- %d\n", rank);
            else
                printf("%lld %d\n", (long long)old->took, rank);
        }
        fflush(stdout);
    }
}

int main(int count, char **words)
{
    const char *text = getenv("GRIDBAY_RANK");
    int rank = text ? atoi(text) : 1, ranks = count > 1 ? atoi(words[1]) : 0;
    char own[32];
    snprintf(own, sizeof own, "rank%d", rank);
    if (!ranks && rank == 0)
        ask(1);
    /* Each asking process writes whole lines: a short write to a pipe is one piece. */
    for (int other = 0; other < ranks; other++)
        if (other != rank && fork() == 0)
            ask(other);
    serve(own);
}
