#include "experiments/nih_boxes.h"

#include <gtest/gtest.h>

#include "hifi/error.h"

namespace hifi {
namespace {

const std::string kHeader = "Image Index,Finding Label,Bbox [x,y,w,h],,,\r\n";

TEST(NihBoxes, KeepsTheFirstFindingOfEachImage) {
  const NihBoxes list = parse_nih_boxes(kHeader +
                                            "a.png,Mass,1.5,2,30,40,,,\r\n"
                                            "b.png,Infiltrate,5,6,7,8\r\n"
                                            "a.png,Nodule,0,0,9,9\n"
                                            "a.png,Mass,50,60,7,8\n",
                                        "list.csv");
  EXPECT_EQ(list.boxes, 4u);
  ASSERT_EQ(list.images.size(), 2u);
  EXPECT_EQ(list.images[0].finding, "Mass");
  ASSERT_EQ(list.images[0].boxes.size(), 2u);
  EXPECT_EQ(list.images[0].boxes[0].x, 1.5);
  EXPECT_EQ(list.images[0].boxes[1].height, 8);
  EXPECT_EQ(list.images[1].place, "list.csv line 3");
}

TEST(NihBoxes, NamesTheLineThatIsWrong) {
  const auto message = [](const std::string& rows) -> std::string {
    try {
      parse_nih_boxes(rows, "list.csv");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(kHeader + "a.png,Mass,1,2,3,4\nb.png,Mass,1,2,3\n"),
            "list.csv line 3: has 5 fields instead of 6");
  EXPECT_EQ(message(kHeader + "a.png,Mass,1,x,3,4\n"), "list.csv line 2: \"x\" is no number");
  EXPECT_EQ(message(kHeader + "a.png,Mass,1,2,0,4\n"), "list.csv line 2: the box has no size");
  EXPECT_EQ(message(kHeader), "list.csv: has no boxes");
  EXPECT_NE(message("image,label\n"), "");
}

}  // namespace
}  // namespace hifi
