# A count of words: each rank counts its part of a text (map), and rank 0 adds up (reduce).
for rank in 0 1 2 3; do
    seq $((rank * 250 + 1)) $((rank * 250 + 250)) | tr 0-9 a-j | fold -w1 |
        $GRIDBAY_EXEC rank$rank 'sort | uniq -c' > part$rank &
done
wait
cat part* | awk '{ n[$2] += $1 } END { for (w in n) print w, n[w] }' | sort
