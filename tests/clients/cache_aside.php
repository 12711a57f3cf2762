<?php
// scripts/examples/cache_aside.php: the steps of scripts/suite/clients.py. Arguments: port, password.
declare(strict_types=1);

require __DIR__ . '/../../scripts/examples/cache_aside.php';

[, $port, $password] = $argv;
$redis = connected('redis://:' . rawurlencode($password) . "@127.0.0.1:$port");

function expect(bool $truth, string $text): void
{
    if (!$truth) {
        fwrite(STDERR, "$text\n");
        exit(1);
    }
}

function tell(string $step, mixed ...$values): void
{
    echo json_encode(['step' => $step, 'saw' => $values], JSON_THROW_ON_ERROR), "\n";
    flush();
}

$calls = 0;
$got = [];
for ($i = 0; $i < 3; ++$i) {
    $got[] = cached($redis, 'page', 60, function () use (&$calls): string {
        ++$calls;
        return 'value';
    });
}
expect($calls === 1 && $got === ['value', 'value', 'value'], "$calls computed: " . json_encode($got));
tell('one call computes', $calls);

$error = '';
try {
    cached($redis, 'broken', 60, fn () => throw new RuntimeException('the origin is down'));
} catch (RuntimeException $problem) {
    $error = $problem->getMessage();
}
expect($error === 'the origin is down' && $redis->exists('broken') === 0, "the error was '$error'");
expect(cached($redis, 'broken', 60, fn () => 'mended') === 'mended', 'the lease was not given back');
tell('an error gives the lease back', $error);
