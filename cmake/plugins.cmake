# Plug-ins keep heavy libraries out of the core. Each is one `*_plugin.cc`; the build id sits in a file of its
# own, so that a change of a header does not recompile the heavy ones for the id alone.
include(${CMAKE_CURRENT_LIST_DIR}/arrow.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/build_id.cmake)

# hifi_plugin(NAME SOURCE RPATH LIBRARIES..): libhifi_NAME.so beside the core; RPATH is where its libraries live.
function(hifi_plugin name source rpath)
  add_library(hifi_${name} MODULE ${source} ${PROJECT_SOURCE_DIR}/cmake/plugin_build_id.cc)
  target_include_directories(hifi_${name} PRIVATE src)
  target_link_libraries(hifi_${name} PRIVATE hifi_warnings hifi_core fmt::fmt ${ARGN})
  set_target_properties(hifi_${name} PROPERTIES INSTALL_RPATH "$ORIGIN;${rpath}")
  install(TARGETS hifi_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set_property(GLOBAL APPEND PROPERTY HIFI_PLUGINS hifi_${name})
endfunction()

set_source_files_properties(cmake/plugin_build_id.cc PROPERTIES COMPILE_DEFINITIONS HIFI_BUILD_ID="${HIFI_BUILD_ID}")
