#include "data/table.h"
#include "fuzz.h"
#include "vocabulary/loss_table.h"

namespace hifi::fuzz {

void try_input(const std::string& bytes) {
  const std::string path = scratch_file(bytes, ".csv");
  table_hash(read_table(path));
  read_loss_table(path, {});
}

std::vector<std::string> own_seeds() {
  return {"a,b,y\n1,2,3\n4,,6\n", "coalition,loss\n00,4\n01,3\n10,3.5\n11,1\n",
          "coalition,loss,k,var\n0,1,32,0.5\n1,0.25,32,0.1\n", "name;x\r\n\"a;\"\"b\";1,5\r\nc;2\r\n",
          "t,d,b\nu,2020-01-01,true\n\"v\nw\",2021-02-03,false\n"};
}

}  // namespace hifi::fuzz
