#include "replication/replica_wait.h"

#include "replication/replicas.h"

namespace mayfly {

ReplicaWait::ReplicaWait(Replicas& replicas, Session& session, const Terms& terms)
    : replicas_(replicas), session_(session), terms_(terms), doom_(replicas.last_doom()) {
  replicas_.AddWait(*this);
}

ReplicaWait::~ReplicaWait() { replicas_.RemoveWait(*this); }

size_t ReplicaWait::Reached() const noexcept {
  return terms_.durable ? replicas_.ConfirmedDurable(terms_.place) : replicas_.Confirmed(terms_.place);
}

}  // namespace mayfly
