// What core/plugin.cc compares before it uses a plug-in.
extern "C" {
extern const char* const hifi_plugin_build_id;
const char* const hifi_plugin_build_id = HIFI_BUILD_ID;
}
