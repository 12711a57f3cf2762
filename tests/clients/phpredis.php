<?php
// php-redis: the steps of scripts/suite/clients.py. Arguments: port, password.
declare(strict_types=1);

const POOL = 50;
const EXPIRES_WITHIN_S = 10;
[, $port, $password] = $argv;

function connected(string $port, array $login): Redis
{
    $redis = new Redis();
    $redis->connect('127.0.0.1', (int) $port, 5.0);
    $redis->auth($login);
    $redis->client('setname', 'driver');
    return $redis;
}

// A value as JSON that tells its type.
function shown(mixed $value): mixed
{
    if ($value === null || is_bool($value) || is_int($value)) {
        return $value;
    }
    if (is_string($value)) {
        return preg_match('/^[ -~]*$/D', $value) ? ['text' => $value] : ['hex' => bin2hex($value)];
    }
    if (is_float($value)) {
        return ['float' => var_export($value, true)];
    }
    if ($value instanceof Throwable) {
        return ['error' => get_class($value), 'text' => $value->getMessage()];
    }
    if (is_array($value) && array_is_list($value)) {
        return array_map('shown', $value);
    }
    if (is_array($value)) {
        return ['map' => array_map(fn ($key) => [shown($key), shown($value[$key])], array_keys($value))];
    }
    return ['other' => get_debug_type($value)];
}

function tell(string $step, mixed ...$values): void
{
    echo json_encode(['step' => $step, 'saw' => shown($values)], JSON_THROW_ON_ERROR), "\n";
    flush();
}

function attempt(callable $call): mixed
{
    try {
        return $call();
    } catch (RedisException $error) {
        return $error;
    }
}

// php-redis answers false for an error reply and keeps its text.
function refused(Redis $redis, callable $call): array
{
    $redis->clearLastError();
    return [attempt($call), $redis->getLastError()];
}

function expect(bool $truth, string $text): void
{
    if (!$truth) {
        fwrite(STDERR, "$text\n");
        exit(1);
    }
}

// Calls until the answer is the wanted one, for a bounded time.
function until(callable $call, mixed $wanted, string $text): mixed
{
    $end = hrtime(true) + EXPIRES_WITHIN_S * 1_000_000_000;
    while (($value = attempt($call)) !== $wanted) {
        expect(hrtime(true) < $end, $text);
    }
    return $value;
}

function pool(string $port, array $login): array
{
    $clients = $ids = [];
    $sum = 0;
    for ($number = 0; $number < POOL; ++$number) {
        $clients[] = $client = connected($port, $login);
        $ids[$client->client('id')] = true;
    }
    foreach ($clients as $number => $client) {
        $client->set("pool:$number", (string) $number);
        $sum += (int) $client->get("pool:$number");
    }
    expect(count($ids) === POOL && $sum === POOL * (POOL - 1) / 2, 'not 50 clients at one time');
    return [count($ids), $sum];
}

function pipeline(Redis $r): array
{
    $p = $r->pipeline();
    $p->set('text', 'word');
    for ($number = 0; $number < 50; ++$number) {
        $p->set("p:$number", (string) $number)->incr("p:$number");
    }
    return $p->incr('text')->get('p:7')->get('missing')->del('p:1', 'p:2', 'missing')->exec();
}

$login = ['default', $password];
$r = connected($port, $login);
tell('connects with name and password', $r->ping(), $r->client('getname'));
tell('meets a wrong password', attempt(fn () => connected($port, ['default', 'wrong'])->ping()));
tell('runs a pool of 50', ...pool($port, $login));

$saw = [$r->set('ttl', 'v', ['ex' => 100]), $r->ttl('ttl') > 0, $r->pttl('ttl') > 99_000];
array_push($saw, $r->set('ttl', 'w', ['nx']), $r->set('ttl', 'w', ['xx', 'keepttl']), $r->persist('ttl'), $r->ttl('ttl'));
array_push($saw, $r->rawCommand('SET', 'ttl', 'x', 'GET'), $r->setex('ttl', 50, 'y'), $r->expire('ttl', 60));
array_push($saw, $r->expire('missing', 60), $r->rawCommand('GETEX', 'ttl', 'PERSIST'), $r->ttl('ttl'));
tell('sets with a TTL', ...[...$saw, $r->rawCommand('GETDEL', 'ttl')]);

tell('MGET', $r->mset(['m:1' => 'a', 'm:2' => '']), $r->mget(['m:1', 'missing', 'm:2']));

$many = [];
for ($number = 0; $number < 300; ++$number) {
    $many[sprintf('scan:%03d', $number)] = (string) $number;
}
$r->mset($many);
$keys = [];
$cursor = null;
while (($page = $r->scan($cursor, 'scan:*', 50)) !== false) {
    array_push($keys, ...$page);
}
$keys = array_values(array_unique($keys));
sort($keys);
expect(count($keys) === 300, 'SCAN did not find 300 keys');
tell('SCAN', ...$keys);

tell('pipeline', ...pipeline($r));

$every = implode('', array_map('chr', range(0, 255)));
$saw = [$r->set($every, $every), $r->get($every), $r->set('empty', ''), $r->get('empty')];
array_push($saw, $r->set('line', "a\r\nb"), $r->get('line'));
$large = '';
for ($number = 0; $number < 1_000_000; ++$number) {
    $large .= chr($number * 7 % 251);
}
$r->set('large', $large);
expect($r->get('large') === $large, 'a value of 1 MB came back changed');
tell('binary values', ...[...$saw, $r->strlen('large')]);

$saw = [$r->incr('n'), $r->incrBy('n', 41), $r->decrBy('n', 2), $r->append('n', '1'), $r->exists('n', 'n')];
array_push($saw, $r->type('n'), $r->type('missing'), $r->get('missing'), $r->del('n', 'missing'), $r->config('GET', 'databases'));
tell('types of replies', ...$saw);

tell('floats and ranges', refused($r, fn () => $r->incrByFloat('f', 0.5)), $r->getRange('large', 1000, 1020));

tell('meets an error', refused($r, fn () => $r->incr('text')), $r->get('text'), refused($r, fn () => $r->rawCommand('NOSUCH')));
tell('meets a wrong type', refused($r, fn () => $r->lPush('text', 'x')));

$r->set('brief', 'v', ['px' => 30]);
tell('meets an expiry', until(fn () => $r->get('brief'), false, 'no expiry'), $r->ttl('brief'), $r->exists('brief'));

$r->set('before', 'v');
echo json_encode(['restart' => true]), "\n";
flush();
fgets(STDIN);
until(fn () => $r->ping(), true, 'no reconnection');
tell('reconnects after a restart', $r->get('before'), $r->client('getname'));
