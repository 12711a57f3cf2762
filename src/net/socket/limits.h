// The limits of the network floor: bytes and milliseconds for each step.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mayfly::net {

// What one connection may receive in one loop turn: a read into the buffer that all share, and one into the block of
// a big argument, whose head the first one may have brought. More waits in the kernel until the others had their turn.
inline constexpr size_t kReadBufferBytes = 64 * 1024;
inline constexpr size_t kBlockReadBytes = 256 * 1024;
// After a big argument the next read takes only this much: enough for the head of the next one, whose payload then
// goes straight to its place instead of being copied there.
inline constexpr size_t kHeadReadBytes = 4 * 1024;

// What all connections together may receive before their requests are run; then the turn ends, and the buffer is used
// again. Large enough for a batch of many clients, small enough for a processor's own cache, and for a turn of some
// milliseconds: a client that sends one request costs about 5 us, and its first one up to 25.
inline constexpr size_t kSharedInputBytes = 512 * 1024;
inline constexpr size_t kDeferredMax = 256;

// A kept tail up to this size is copied before the next bytes in the shared read buffer; a longer one is
// grown where it lies.
inline constexpr size_t kCopiedTailBytes = 16 * 1024;

// The further requests of a client that CLIENT PAUSE or failed logins hold back are kept up to this many bytes; what comes
// after them stays in the kernel.
inline constexpr size_t kParkedInputBytes = 64 * 1024;
// Likewise those of a client that is blocked. More is read, because its end is behind what it has sent: while the kernel
// has no room for all of that, nobody can know that the client has gone. All of it runs at once when the wait is over.
inline constexpr size_t kBlockedInputBytes = 1024 * 1024;

// Pieces of one gathering write. For one that has to wait libuv would allocate room for more than it has in the
// request itself; it counts the request before that can fail, and its loop would never end.
inline constexpr size_t kPiecesPerWrite = 64;
inline constexpr size_t kPiecesPerWaitingWrite = 4;

// A transport is given no more replies while it has this much ciphertext to send.
inline constexpr size_t kSealedBytes = 64 * 1024;

// One write to a transport: a whole record of TLS.
inline constexpr size_t kRecordBytes = 16 * 1024;

// A client has this long to go on with the handshake of its transport, whatever it sends meanwhile: from its arrival, and
// again from each answer of ours. In one turn of the loop no handshake goes on once they have taken kHandshakesUs
// together: one may take a millisecond, and a crowd that connects at one time must not hold up those who are connected.
// What a client waits for its turn does not count as its time.
inline constexpr uint64_t kHandshakeMs = 10'000;
inline constexpr uint64_t kHandshakesUs = 2'000;

// Back-pressure (server/clients/output_pool.h). While clients together hold more output than is calm, one that has
// more than kOutputOwnBytes of it is not read from as long as it reads. Once it has read nothing for
// kStalledMs it may be waiting for us to read, and is read from again.
inline constexpr size_t kOutputOwnBytes = 1024 * 1024;
inline constexpr uint64_t kStalledMs = 100;

// Connections that one listener takes in a loop turn; more wait in the kernel until those have been served. A client
// that comes and sends its first request costs about 25 us, so when ten thousand come at once, a turn takes some
// milliseconds, and those who were there before are served in between.
inline constexpr size_t kAcceptsPerTurn = 64;

// Without a descriptor for the next connection all listeners pause, and try again after this time. Log lines
// about it keep this distance.
inline constexpr uint64_t kPauseMs = 100;
inline constexpr uint64_t kPauseLogMs = 10'000;

// A connection that we end reads and drops what the client still sends, so that its last reply arrives: a
// socket closed with unread bytes is reset, and replies on their way are lost. Bounded in time, bytes, and
// number of such connections.
inline constexpr uint64_t kLingerMs = 1000;
inline constexpr size_t kLingerBytes = 4 * 1024 * 1024;
inline constexpr size_t kLingeringMax = 64;  // fewer if the limit of open files leaves no room

// A stopping server runs what clients have sent for at most kLastReadsMs. Then every connection lingers, for
// at most kStopMs together, until the client closes it too. It is closed by us once it has been silent for
// kStopSilenceMs and everything has reached the client's machine: clients that do not notice the end of an
// idle connection hold up nobody. One that sends more than the bytes below, and does not read, is reset.
inline constexpr uint64_t kLastReadsMs = 500;
inline constexpr uint64_t kStopMs = 2000;
inline constexpr uint64_t kStopSilenceMs = 200;
inline constexpr size_t kStopLingerBytes = 256 * 1024 * 1024;

// The metrics port. A request must come, and an answer must be read, within these times; a connection may be silent
// between two requests for longer than Prometheus waits between two scrapes. At most kHttpClientsMax have a place: a few
// browsers and scrapers; one that is silent between two requests gives way to one that comes. A stopping server gives them kStopObserversMs to notice its end.
inline constexpr uint64_t kHttpRequestMs = 10'000;
inline constexpr uint64_t kHttpAnswerMs = 30'000;
inline constexpr uint64_t kHttpIdleMs = 150'000;
inline constexpr size_t kHttpClientsMax = 8;
inline constexpr uint64_t kStopObserversMs = 500;

// Descriptors that are kept from clients, as many as in Redis. The daemon itself has up to kOwnFiles open:
// standard streams, those of libuv, listeners, the log, clients of the metrics port. Connections on their way out may use
// the others.
inline constexpr uint64_t kReservedFiles = 32;
inline constexpr uint64_t kOwnFiles = 16 + kHttpClientsMax;

// Entries worked on between two looks at the cycle counter.
inline constexpr size_t kEntriesPerLook = 64;

// Without word from the kernel that the wall clock stepped, somebody has to look.
inline constexpr uint64_t kClockLookMs = 1000;
// Smaller moves of the wall clock are NTP's slewing.
inline constexpr int64_t kClockStepMs = 10;

}  // namespace mayfly::net
