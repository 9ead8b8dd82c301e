# Debian's OpenCV: reading and writing image files. Its own CMake package comes with all of its modules only.
find_path(HIFI_OPENCV_INCLUDE opencv2/imgcodecs.hpp PATH_SUFFIXES opencv4 REQUIRED)
find_library(HIFI_OPENCV_CORE opencv_core REQUIRED)
find_library(HIFI_OPENCV_IMGPROC opencv_imgproc REQUIRED)
find_library(HIFI_OPENCV_IMGCODECS opencv_imgcodecs REQUIRED)
add_library(hifi_opencv INTERFACE)
target_include_directories(hifi_opencv SYSTEM INTERFACE ${HIFI_OPENCV_INCLUDE})
target_link_libraries(hifi_opencv INTERFACE ${HIFI_OPENCV_IMGCODECS} ${HIFI_OPENCV_IMGPROC} ${HIFI_OPENCV_CORE})
