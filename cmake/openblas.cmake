# OpenBLAS by its own name: `libblas.so.3` may be the reference implementation, which is 70 times slower. The
# OpenMP build, because libtorch's is one, too: a process has one of them.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_library(HIFI_OPENBLAS_LIBRARY openblas REQUIRED)
find_path(HIFI_CBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas-openmp openblas REQUIRED)
add_library(hifi_openblas INTERFACE)
target_include_directories(hifi_openblas SYSTEM INTERFACE ${HIFI_CBLAS_INCLUDE})
target_link_libraries(hifi_openblas INTERFACE ${HIFI_OPENBLAS_LIBRARY} OpenMP::OpenMP_CXX)
