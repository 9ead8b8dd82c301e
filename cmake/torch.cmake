# Debian's libtorch. Not by its own CMake package, which asks for much that we do not use.
find_path(HIFI_TORCH_INCLUDE torch/csrc/api/include/torch/torch.h REQUIRED)
find_library(HIFI_TORCH_LIBRARY torch REQUIRED)
find_library(HIFI_TORCH_CPU_LIBRARY torch_cpu REQUIRED)
find_library(HIFI_C10_LIBRARY c10 REQUIRED)
add_library(hifi_torch INTERFACE)
target_include_directories(hifi_torch SYSTEM INTERFACE ${HIFI_TORCH_INCLUDE} ${HIFI_TORCH_INCLUDE}/torch/csrc/api/include)
target_link_libraries(hifi_torch INTERFACE ${HIFI_TORCH_LIBRARY} ${HIFI_TORCH_CPU_LIBRARY} ${HIFI_C10_LIBRARY})
