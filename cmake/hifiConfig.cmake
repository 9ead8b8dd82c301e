include("${CMAKE_CURRENT_LIST_DIR}/hifiTargets.cmake")
