# Arrow C++ from the pyarrow wheel of the local virtual environment, unmodified: the libraries are
# linked by their full soname, the headers are SYSTEM.
set(HIFI_PYTHON "${PROJECT_SOURCE_DIR}/.venv/bin/python" CACHE FILEPATH "Python that has the pinned wheels")
execute_process(
  COMMAND ${HIFI_PYTHON} -c "import pyarrow as a; v=a.__version__.split('.'); print(a.get_include(), a.get_library_dirs()[0], int(v[0])*100+int(v[1]), sep=';')"
  OUTPUT_VARIABLE HIFI_ARROW OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE HIFI_ARROW_RESULT ERROR_QUIET)
if(NOT HIFI_ARROW_RESULT EQUAL 0)
  message(FATAL_ERROR "pyarrow is missing from ${HIFI_PYTHON}: run `make setup` first")
endif()
list(GET HIFI_ARROW 0 HIFI_ARROW_INCLUDE)
list(GET HIFI_ARROW 1 HIFI_ARROW_LIBRARY_DIR)
list(GET HIFI_ARROW 2 HIFI_ARROW_SONAME)

add_library(hifi_arrow INTERFACE)
target_include_directories(hifi_arrow SYSTEM INTERFACE ${HIFI_ARROW_INCLUDE})
target_link_libraries(hifi_arrow INTERFACE
  ${HIFI_ARROW_LIBRARY_DIR}/libarrow.so.${HIFI_ARROW_SONAME}
  ${HIFI_ARROW_LIBRARY_DIR}/libarrow_compute.so.${HIFI_ARROW_SONAME}
  ${HIFI_ARROW_LIBRARY_DIR}/libparquet.so.${HIFI_ARROW_SONAME})
