"""Deduplicating a collection in parallel: pure functions on Arrow batches, for any engine.

An engine gives each row a number, its place in the collection, and asks in this order:

1. `signed`: which keys a row has; rows that are equal in all that counts share a digest.
2. `scattered`: for each partition of buckets, rows that share a key, with sketches of their texts.
3. `paired`: the rows of a partition of buckets as pairs, without those that sketches rule out.
4. `comparable` and `verified`: which pairs are duplicates, by the second check that decides on one
   machine, too.
5. `first_come`: a row is dropped if an earlier row that stays duplicates it.

The answer is that of `dedup run` on one machine, but for its limit of candidates: here all are
compared.
"""
