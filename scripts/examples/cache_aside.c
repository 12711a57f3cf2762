// Cache-aside with TAKE, by hiredis: of all callers that miss a key at once, one computes its value, the others get it.
//
//     cc scripts/examples/cache_aside.c -lhiredis -o cache_aside && ./cache_aside [host [port]]
//
// The variable REDIS_PASSWORD may have a password: an argument would be seen by everybody on the machine.
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The lease is longer than any computation takes. The end of the connection ends the lease, too.
static const char* const kTake = "TAKE %s LEASE 30000 WAIT 5000";
static const char* const kStore = "SET %s %s EX %d STALE %d IFLEASE %s";

// Returns the value of `key`; if the value is missing, calls compute() and keeps the result for `ttl_s` seconds. For the same
// time after the deadline, callers get the old value while one of them computes the new one. The caller frees the value. One
// connection serves from TAKE to SET.
static char* Cached(redisContext* client, const char* key, int ttl_s, char* (*compute)(void)) {
  redisReply* took = redisCommand(client, kTake, key);
  while (took != NULL && took->type == REDIS_REPLY_ARRAY && strcmp(took->element[0]->str, "BUSY") == 0) {
    freeReplyObject(took);  // the computation still goes on
    took = redisCommand(client, kTake, key);
  }
  char* value = NULL;
  if (took == NULL || took->type != REDIS_REPLY_ARRAY || took->elements != 4) {
    value = compute();  // no server, or an error
  } else if (strcmp(took->element[0]->str, "LEASE") == 0) {
    const char* const token = took->element[2]->str;
    value = compute();
    freeReplyObject(value != NULL ? redisCommand(client, kStore, key, value, ttl_s, ttl_s, token)
                                  : redisCommand(client, "UNLEASE %s %s", key, token));
  } else {
    value = strdup(took->element[1]->str);
  }
  if (took != NULL) freeReplyObject(took);
  return value;
}

static char* Page(void) { return strdup("<h1>Hello</h1>"); }

int main(int argc, char** argv) {
  redisContext* const client = redisConnect(argc > 1 ? argv[1] : "127.0.0.1", argc > 2 ? atoi(argv[2]) : 6379);
  if (client == NULL || client->err != 0) return 1;
  const char* const password = getenv("REDIS_PASSWORD");
  if (password != NULL) freeReplyObject(redisCommand(client, "AUTH %s", password));
  char* const page = Cached(client, "page:home", 60, Page);
  printf("%s\n", page);
  free(page);
  redisFree(client);
  return 0;
}
