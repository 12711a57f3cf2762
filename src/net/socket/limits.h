// The limits of the network floor: bytes and milliseconds for each step.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mayfly::net {

// The most bytes of one connection in one loop turn: a read into the shared buffer, and a read into the block of a big
// argument whose head came with the first read. Further bytes wait in the kernel until the other connections had their turn.
inline constexpr size_t kReadBufferBytes = 64 * 1024;
inline constexpr size_t kBlockReadBytes = 256 * 1024;
// After a big argument the next read takes only this many bytes: enough for the head of the next argument, whose payload
// then goes straight to its place without a copy.
inline constexpr size_t kHeadReadBytes = 4 * 1024;

// The most bytes of all connections together before their requests run; then the turn ends, and the buffer is used again.
// Large enough for a batch of many clients, small enough for a processor's own cache, and for a turn of some milliseconds: a
// client with one request costs about 5 us, and with the first request up to 25.
inline constexpr size_t kSharedInputBytes = 512 * 1024;
inline constexpr size_t kDeferredMax = 256;

// A kept tail up to this size is copied before the next bytes in the shared read buffer; a longer tail grows in place.
inline constexpr size_t kCopiedTailBytes = 16 * 1024;

// The most kept bytes of further requests of a client held back by CLIENT PAUSE or failed logins; later bytes stay in the
// kernel.
inline constexpr size_t kParkedInputBytes = 64 * 1024;
// Likewise for a blocked client. More is read, because a client's end comes after all sent bytes: while the kernel has no
// room for these bytes, the server cannot see that the client has gone. All kept requests run at once after the wait.
inline constexpr size_t kBlockedInputBytes = 1024 * 1024;

// Pieces of one gathering write. For a waiting write with more pieces than fit into the request itself, libuv would allocate
// room; libuv counts the request before this allocation can fail, and the loop would then never end.
inline constexpr size_t kPiecesPerWrite = 64;
inline constexpr size_t kPiecesPerWaitingWrite = 4;

// A transport gets no more replies while it has this many bytes of ciphertext to send.
inline constexpr size_t kSealedBytes = 64 * 1024;

// The plaintext of one write to a transport: a whole record of TLS.
inline constexpr size_t kRecordBytes = 16 * 1024;

// The time of a client to go on with the handshake of its transport, whatever the client sends meanwhile: from its arrival,
// and again from each answer of ours. In one turn of the loop no handshake goes on once all handshakes have taken
// kHandshakesUs together: a handshake may take a millisecond, and a crowd of new clients must not hold up the connected
// clients. A client's wait for its turn does not count as its time.
inline constexpr uint64_t kHandshakeMs = 10'000;
inline constexpr uint64_t kHandshakesUs = 2'000;

// Back-pressure (server/clients/output_pool.h). While clients together hold more output than is calm, the server does not
// read from a client with more than kOutputOwnBytes of output, as long as the client reads. A client that has read nothing
// for kStalledMs may be waiting for the server to read, and is read from again.
inline constexpr size_t kOutputOwnBytes = 1024 * 1024;
inline constexpr uint64_t kStalledMs = 100;

// The most connections accepted by one listener in a loop turn; others wait in the kernel until the accepted clients were
// served. A new client with its first request costs about 25 us: when ten thousand come at once, a turn takes some
// milliseconds, and older clients are served in between.
inline constexpr size_t kAcceptsPerTurn = 64;

// Without a descriptor for the next connection all listeners pause, and try again after kPauseMs. Log lines about pauses are
// kPauseLogMs apart.
inline constexpr uint64_t kPauseMs = 100;
inline constexpr uint64_t kPauseLogMs = 10'000;

// When the server ends a connection, it still reads and drops the client's bytes, to let the last reply arrive: a socket
// closed with unread bytes is reset, and replies on their way are lost. Bounded in time, bytes, and number of such
// connections.
inline constexpr uint64_t kLingerMs = 1000;
inline constexpr size_t kLingerBytes = 4 * 1024 * 1024;
inline constexpr size_t kLingeringMax = 64;  // fewer if the limit of open files leaves no room

// A stopping server runs received requests for at most kLastReadsMs. Then every connection lingers, for at most kStopMs
// together, until the client closes the connection too. The server closes a connection that has been silent for
// kStopSilenceMs when all output has reached the client's machine: a client that does not notice the end of an idle
// connection thus holds up nothing. A client that sends more than kStopLingerBytes, and does not read, is reset.
inline constexpr uint64_t kLastReadsMs = 500;
inline constexpr uint64_t kStopMs = 2000;
inline constexpr uint64_t kStopSilenceMs = 200;
inline constexpr size_t kStopLingerBytes = 256 * 1024 * 1024;

// The metrics port. A request must come, and an answer must be read, within these times; a connection may be silent between
// two requests for longer than Prometheus waits between two scrapes. At most kHttpClientsMax have a place: a few browsers
// and scrapers; a client that is silent between two requests gives way to a new client. A stopping server gives the clients
// kStopObserversMs to notice the end.
inline constexpr uint64_t kHttpRequestMs = 10'000;
inline constexpr uint64_t kHttpAnswerMs = 30'000;
inline constexpr uint64_t kHttpIdleMs = 150'000;
inline constexpr size_t kHttpClientsMax = 8;
inline constexpr uint64_t kStopObserversMs = 500;

// Descriptors reserved from clients, as many as in Redis. The daemon itself has up to kOwnFiles open: standard streams,
// libuv's descriptors, listeners, the log, clients of the metrics port. Lingering connections may use the rest.
inline constexpr uint64_t kReservedFiles = 32;
inline constexpr uint64_t kOwnFiles = 16 + kHttpClientsMax;

// Entries worked on between two looks at the cycle counter.
inline constexpr size_t kEntriesPerLook = 64;

// The time between two readings of the wall clock if the kernel does not report steps.
inline constexpr uint64_t kClockLookMs = 1000;
// Smaller moves of the wall clock are NTP's slewing.
inline constexpr int64_t kClockStepMs = 10;

}  // namespace mayfly::net
