# OpenVINO C++ from the openvino wheel of the local virtual environment, unmodified.
execute_process(
  COMMAND ${HIFI_PYTHON} -c "import importlib.util as u; print(u.find_spec('openvino').submodule_search_locations[0])"
  OUTPUT_VARIABLE HIFI_OPENVINO OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE HIFI_OPENVINO_RESULT ERROR_QUIET)
if(NOT HIFI_OPENVINO_RESULT EQUAL 0)
  message(FATAL_ERROR "openvino is missing from ${HIFI_PYTHON}: run `make setup` first")
endif()
find_package(OpenVINO REQUIRED COMPONENTS Runtime ONNX PATHS ${HIFI_OPENVINO}/cmake NO_DEFAULT_PATH)
set(HIFI_OPENVINO_LIBRARY_DIR ${HIFI_OPENVINO}/libs)
