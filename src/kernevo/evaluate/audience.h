// For whom an answer is meant; visible.h says what each may see.
#pragma once

namespace kernevo {

enum class Audience {
  owner,    // of the task: sees everything
  proposer, // whoever writes kernels for it: a model, the playbook, an agent, a client
};

} // namespace kernevo
