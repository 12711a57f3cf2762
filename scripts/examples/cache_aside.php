<?php
// Cache-aside with TAKE, by phpredis: of all callers that miss a key at once, one computes its value, the others get it.
//
//     php scripts/examples/cache_aside.php [redis://:password@host:port]     (or the variable REDIS_URL)
declare(strict_types=1);

const LEASE_MS = 30000; // longer than any computation takes
const WAIT_MS = 5000;

// Returns the value of $key; if the value is missing, calls $compute() and keeps the result for $ttlS seconds. For the same
// time after the deadline, callers get the old value while one of them computes the new one. A Redis object is one connection
// from TAKE to SET.
function cached(Redis $redis, string $key, int $ttlS, callable $compute): string
{
    do {
        $taken = $redis->rawCommand('TAKE', $key, 'LEASE', LEASE_MS, 'WAIT', WAIT_MS);
        if ($taken === false) {
            throw new RedisException($redis->getLastError() ?? 'no answer'); // whoever computes it has failed
        }
        [$status, $value, $token] = $taken;
    } while ($status === 'BUSY'); // the computation still goes on
    if ($status !== 'LEASE') {
        return $value;
    }
    try {
        $value = $compute();
    } catch (Throwable $error) {
        $redis->rawCommand('UNLEASE', $key, $token, 'ERR', $error->getMessage()); // waiting callers get this error
        throw $error;
    }
    if ($redis->rawCommand('SET', $key, $value, 'EX', $ttlS, 'STALE', $ttlS, 'IFLEASE', $token) === false) {
        $redis->rawCommand('UNLEASE', $key, $token); // not stored: memory is full, or the lease is over
    }
    return $value;
}

function connected(string $url): Redis
{
    $parts = parse_url($url);
    $redis = new Redis();
    $redis->connect($parts['host'] ?? '127.0.0.1', $parts['port'] ?? 6379, 5.0);
    if (isset($parts['pass'])) {
        $user = urldecode($parts['user'] ?? '');
        $redis->auth([$user === '' ? 'default' : $user, urldecode($parts['pass'])]);
    }
    return $redis;
}

if (realpath($_SERVER['SCRIPT_FILENAME']) === __FILE__) {
    $redis = connected($argv[1] ?? (getenv('REDIS_URL') ?: 'redis://127.0.0.1:6379'));
    $calls = 0;
    $page = function () use (&$calls): string {
        ++$calls;
        return '<h1>Hello</h1>';
    };
    for ($i = 0; $i < 50; ++$i) {
        $value = cached($redis, 'page:home', 60, $page);
    }
    echo "50 calls, computed $calls times: $value\n";
}
