#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "frontend/config/machine.h"
#include "frontend/config/settings.h"
#include "runtime/base/error.h"

namespace hopline {
namespace {

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    return e.what();
  }
  return "no error";
}

std::string shipped(const std::string& path) {
  std::ifstream in(std::string(HOPLINE_SOURCE_DIR) + "/" + path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

const SettingSource kFile = {"a.xml", true};

}  // namespace

TEST(Config, DefaultsComeFromTheRows) {
  const Config config;
  EXPECT_EQ(config.precision, "double");
  EXPECT_EQ(config.optlevel, 2);
  EXPECT_EQ(config.recursion_limit, 10000);
  EXPECT_EQ(config.gpu_memory_share, 0.9);
  EXPECT_TRUE(config.parallel_operators);
  std::set<std::string> keys, variables;
  for (const Setting& row : settings()) {
    EXPECT_TRUE(keys.insert(std::string(row.key)).second) << row.key;
    EXPECT_FALSE(row.help.empty()) << row.key;
    std::string variable(row.key);
    for (char& c : variable) c = c == '.' ? '_' : static_cast<char>(std::toupper(c));
    EXPECT_TRUE(variables.insert(variable).second) << row.key << " has the environment variable of another key";
  }
}

TEST(Config, AnyPrefixAndForm) {
  Settings s;
  s.apply(kFile, {{"sysds.optlevel", "1", 1},
                  {"sysml.floating.point.precision", "SINGLE", 2},
                  {"hopline.memory.limit", "1.5 GB", 3},
                  {"gpu.eager.cudaFree", "True", 4}});
  EXPECT_EQ(s.config().optlevel, 1);
  EXPECT_EQ(s.config().precision, "single");
  EXPECT_EQ(s.config().memory_limit, int64_t{3} << 29);
  EXPECT_TRUE(s.config().gpu_eager_free);
}

TEST(Config, KeysOfOtherEnginesAreAcceptedAndListed) {
  Settings s;
  s.apply(kFile,
          {{"sysml.yarn.appmaster.mem", "anything", 1}, {"mapred.reduce.tasks", "3", 2}, {"sysds.optlevel", "2", 3}});
  EXPECT_EQ(s.without_effect(), (std::vector<std::string>{"sysml.yarn.appmaster.mem", "mapred.reduce.tasks"}));
}

TEST(Config, ErrorsNameThePlace) {
  const auto apply = [](std::vector<KeyValue> pairs, SettingSource source = kFile) {
    return message_of([&] { Settings().apply(source, pairs); });
  };
  EXPECT_EQ(apply({{"sysds.optlvel", "1", 7}}),
            "a.xml:7: unknown configuration key 'sysds.optlvel'; did you mean 'sysds.optlevel'?");
  EXPECT_EQ(apply({{"sysds.optlevel", "9", 7}}),
            "a.xml:7: sysds.optlevel: expected a whole number from 0 to 7, found '9'");
  EXPECT_EQ(apply({{"optlevel", "1x", 0}}, {"command line"}),
            "command line: optlevel: expected a whole number from 0 to 7, found '1x'");
  EXPECT_EQ(apply({{"floating.point.precision", "half", 1}}),
            "a.xml:1: floating.point.precision: expected double or single, found 'half'");
  EXPECT_EQ(apply({{"gpu.sync.postProcess", "yes", 1}}),
            "a.xml:1: gpu.sync.postProcess: expected true or false, found 'yes'");
  EXPECT_EQ(apply({{"memory.limit", "-1", 1}}),
            "a.xml:1: memory.limit: expected a number of bytes such as 16GB, found '-1'");
  EXPECT_EQ(apply({{"sysds.optlevel", "1", 3}, {"sysml.optlevel", "2", 5}}),
            "a.xml:5: one key with two values: sysds.optlevel is 1, and sysml.optlevel is 2");
  EXPECT_EQ(apply({{"sysds.optlevel", "1", 3}, {"sysml.optlevel", "1", 5}}), "no error");
  EXPECT_EQ(apply({{"optlevel", "1", 0}, {"optlevel", "2", 0}}, {"command line"}), "no error");
}

TEST(Config, LaterSourcesWinAndTheOriginIsKept) {
  Settings s;
  s.apply(kFile, {{"sysds.optlevel", "1", 3}, {"sysds.fusion", "none", 4}});
  s.apply({"environment"},
          read_environment_settings(std::vector<const char*>{"HOME=/x", "HOPLINE_OPTLEVEL=3", "HOPLINE_SCRIPTS=x",
                                                             "HOPLINE_GPU_MEMORY_UTIL_FACTOR=0.5", nullptr}
                                        .data()));
  s.apply({"command line"}, {{"hopline.optlevel", "0", 0}});
  EXPECT_EQ(s.config().optlevel, 0);
  EXPECT_EQ(s.config().gpu_memory_share, 0.5);
  const std::string text = s.print(false);
  EXPECT_NE(text.find("hopline.optlevel: 0                               # command line\n"), std::string::npos) << text;
  EXPECT_NE(text.find("hopline.fusion: none                              # a.xml:4\n"), std::string::npos);
  EXPECT_NE(text.find("hopline.gpu.memory.util.factor: 0.5               # environment\n"), std::string::npos);
  EXPECT_EQ(text.find("yarn"), std::string::npos);
  EXPECT_NE(s.print(true).find("yarn.app.queue"), std::string::npos);
  EXPECT_EQ(message_of([] {
              Settings().apply({"environment"},
                               read_environment_settings(std::vector<const char*>{"HOPLINE_X=1", nullptr}.data()));
            }),
            "environment: unknown configuration key 'HOPLINE_X'");
}

TEST(Config, Xml) {
  const auto pairs = read_xml_settings(
      "<?xml version=\"1.0\"?>\n<root>\n <!-- c -->\n <sysds.optlevel> 2\n</sysds.optlevel>\n "
      "<sysds.scratch/>\n</root>",
      "f");
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].key, "sysds.optlevel");
  EXPECT_EQ(pairs[0].value, "2");
  EXPECT_EQ(pairs[0].line, 4);
  EXPECT_EQ(pairs[1].value, "");
  EXPECT_EQ(message_of([] { read_xml_settings("<root>\n<a>1</b>\n</root>", "f"); }).substr(0, 19),
            "f:2: malformed XML:");
  EXPECT_EQ(message_of([] { read_xml_settings("<root>\n<a><b>1</b></a></root>", "f"); }),
            "f:2: a: expected a value, found <b>");
  EXPECT_EQ(message_of([] { read_xml_settings("<root>\nword</root>", "f"); }),
            "f:1: expected <key>value</key>, found 'word'");
}

TEST(Config, Yaml) {
  const auto pairs = read_yaml_settings(
      "hopline:\n  optlevel: 2\n  gpu:\n    memory.util.factor: 0.5\n  rewrites.off: [a, b]\nhopline.fusion:\n", "f");
  ASSERT_EQ(pairs.size(), 4u);
  EXPECT_EQ(pairs[0].key, "hopline.optlevel");
  EXPECT_EQ(pairs[1].key, "hopline.gpu.memory.util.factor");
  EXPECT_EQ(pairs[1].line, 4);
  EXPECT_EQ(pairs[2].value, "a,b");
  EXPECT_EQ(pairs[3].value, "");
  EXPECT_TRUE(read_yaml_settings("# nothing\n", "f").empty());
  EXPECT_EQ(message_of([] { read_yaml_settings("a: [1\n", "f"); }).substr(0, 2), "f:");
  EXPECT_EQ(message_of([] { read_yaml_settings("- a\n", "f"); }), "f:1: expected key: value");
  EXPECT_NE(message_of([] { read_yaml_settings(std::string(100000, '['), "f"); }), "no error");
}

TEST(Config, Bytes) {
  EXPECT_EQ(parse_bytes("0"), 0);
  EXPECT_EQ(parse_bytes("16GB"), int64_t{16} << 30);
  EXPECT_EQ(parse_bytes("16 GiB"), int64_t{16} << 30);
  EXPECT_EQ(parse_bytes("1.5g"), int64_t{3} << 29);
  EXPECT_EQ(parse_bytes("512MB"), int64_t{512} << 20);
  EXPECT_EQ(parse_bytes("100 b"), 100);
  for (const char* bad : {"", "x", "-1", "16XB", "1e30", "nan", "inf", "1 2", "1gbb"})
    EXPECT_EQ(parse_bytes(bad), -1) << bad;
}

TEST(Config, ShippedFilesAgreeWithTheTable) {
  EXPECT_EQ(shipped("conf/hopline.yaml"), write_yaml_settings()) << "make it anew: hopline --write-conf yaml";
  EXPECT_EQ(shipped("conf/hopline-config.xml"), write_xml_settings()) << "make it anew: hopline --write-conf xml";
  for (const auto& pairs :
       {read_yaml_settings(write_yaml_settings(), "yaml"), read_xml_settings(write_xml_settings(), "xml")}) {
    ASSERT_EQ(pairs.size(), settings().size());
    Settings s;
    s.apply(kFile, pairs);
    for (size_t i = 0; i < pairs.size(); ++i) {
      EXPECT_EQ(pairs[i].key, "hopline." + std::string(settings()[i].key));
      EXPECT_EQ(pairs[i].value, settings()[i].default_text);
    }
  }
}

TEST(Config, MachineProfiles) {
  for (const std::string name : {"local", "h200", "sim"}) {
    const MachineProfile machine = read_machine_profile(shipped("conf/machines/" + name + ".yaml"), name);
    EXPECT_EQ(machine.name, name);
    EXPECT_GT(machine.cpu.flops_single, machine.cpu.flops_double);
    EXPECT_EQ(machine.device.has_value(), name != "local");
  }
  EXPECT_EQ(message_of([] { read_machine_profile("machine:\n  name: x\n", "f"); }),
            "f: the machine profile lacks machine.cpu.flops_double");
  const std::string local = shipped("conf/machines/local.yaml");
  EXPECT_EQ(message_of([&] { read_machine_profile(local + "    speed: 1\n", "f"); }),
            "f:9: unknown key 'machine.cpu.speed' in a machine profile");
}

}  // namespace hopline
