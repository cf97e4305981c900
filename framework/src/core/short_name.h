// Names of functions as people say them.
#pragma once

#include <string>
#include <string_view>

namespace depfast {

// A function's name with its namespaces, without return type, parameters and template arguments.
struct QualifiedName {
  std::string text;
  bool lambda_inside = false;  // it is of a lambda in the function that `text` names
};

// `function`: as the C++ ABI's demangler writes it.
QualifiedName QualifiedNameOf(std::string_view function);

// The function's own name, and its class if it has one: "a lambda in Raft::Start".
std::string ShortName(const QualifiedName& name);

}  // namespace depfast
