// Turns the node lists of an ONNX tree ensemble into trees of a Forest: every comparison becomes one of its
// rules, with the children exchanged where need be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/forest.h"

namespace hifi::onnx {

// Numbered as operator set 5 does; leaves come last.
enum class Mode { at_most, below, at_least, above, equal, not_equal, member, leaf };

// Both throw Error(input) that begins with `where`.
Mode parse_mode(const std::string& name, const std::string& where);
Mode parse_mode(double number, const std::string& where);

class TreeBuilder {
 public:
  struct Nodes {
    std::vector<Mode> mode;
    std::vector<std::int64_t> column;
    std::vector<double> threshold;
    std::vector<std::int64_t> yes, no;            // positions of nodes, or of leaves in `values`
    std::vector<std::int64_t> missing_yes;        // empty: none
    std::vector<std::int64_t> yes_leaf, no_leaf;  // 1: a leaf; empty: leaves are nodes of mode `leaf`
    std::vector<double> members;                  // sets of mode `member`, in their order, each ended by NaN
    std::vector<std::vector<Forest::LeafValue>> values;

    bool same_length() const;
  };

  TreeBuilder(Nodes nodes, Forest& forest, std::string where);

  // Adds the tree of this root. Throws Error(input) that begins with `where`.
  void add(std::int64_t root);

 private:
  struct Child {
    std::int64_t index;
    bool leaf;
  };
  Child child(std::size_t node, bool yes) const;
  std::int32_t place(const Child& child, Forest::FileTree& tree, std::vector<std::size_t>& queue);
  Forest::Split split_of(std::size_t node);

  Nodes nodes_;
  Forest& forest_;
  std::string where_;
  std::vector<bool> seen_;
  std::vector<std::vector<double>> sets_;  // of nodes of mode `member`
  std::vector<std::size_t> set_of_node_;
};

}  // namespace hifi::onnx
