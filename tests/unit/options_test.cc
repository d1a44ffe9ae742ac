#include "cli/options.h"

#include <gtest/gtest.h>

#include "cli/help.h"
#include "cli/run.h"
#include "runtime/base/error.h"
#include "runtime/ops/op.h"

namespace hopline {
namespace {

Options read(std::vector<const char*> words) { return parse_options(words); }

std::string refused(std::vector<const char*> words) {
  try {
    parse_options(words);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    return e.what();
  }
  return "no error";
}

using Arguments = std::map<std::string, std::string>;

}  // namespace

TEST(Options, ScriptAndItsArguments) {
  const Options o = read({"a.dml", "x", "k=v", "-5", "path/k=v", "", "n=", "-stats", "y"});
  EXPECT_EQ(o.script, "a.dml");
  EXPECT_EQ(o.arguments, (Arguments{{"1", "x"}, {"2", "-5"}, {"3", "path/k=v"}, {"5", "y"}, {"k", "v"}}));
  EXPECT_TRUE(o.stats);
  EXPECT_EQ(read({"-f", "a.dml", "b.dml"}).arguments, (Arguments{{"1", "b.dml"}}));
  EXPECT_EQ(read({"-"}).script, "-");
  EXPECT_EQ(read({"a.dml", "--", "-stats", "k=v"}).arguments, (Arguments{{"1", "-stats"}, {"k", "v"}}));
  EXPECT_EQ(*read({"-s", "-x = 1"}).text, "-x = 1");
  EXPECT_EQ(refused({"-stats"}), "no script: expected hopline [options] SCRIPT [arguments]; see hopline --help");
  EXPECT_EQ(refused({"a.dml", "k=1", "k=2"}), "argument k is given twice");
}

TEST(Options, ArgsAndNvargsTakeTheRest) {
  EXPECT_EQ(read({"-f", "a.dml", "-args", "-stats", "k=v"}).arguments, (Arguments{{"1", "-stats"}, {"2", "k=v"}}));
  EXPECT_EQ(read({"a.dml", "0", "-args", "1"}).arguments, (Arguments{{"1", "0"}, {"2", "1"}}));
  EXPECT_EQ(read({"a.dml", "-nvargs", "X=a=b", "Y=-1"}).arguments, (Arguments{{"X", "a=b"}, {"Y", "-1"}}));
  EXPECT_EQ(refused({"a.dml", "-nvargs", "X"}), "option --nvargs: expected NAME=VALUE, found 'X'");
}

TEST(Options, OptionalValuesAreTakenOnlyIfTheyFit) {
  EXPECT_EQ(read({"-explain", "a.dml"}).explain, "instructions");
  EXPECT_EQ(read({"-explain", "hops", "a.dml"}).explain, "hops");
  EXPECT_EQ(read({"--explain=recompile_hops", "a.dml"}).explain, "all");
  EXPECT_EQ(read({"-explain", "runtime", "a.dml"}).explain, "instructions");
  EXPECT_EQ(read({"a.dml"}).explain, "none");
  EXPECT_EQ(read({"-stats", "20", "a.dml"}).heavy_hitters, 20);
  EXPECT_EQ(read({"-stats", "a.dml"}).heavy_hitters, 10);
  const Options gpu = read({"-gpu", "force", "sim:16GB", "a.dml"});
  EXPECT_TRUE(gpu.gpu && gpu.gpu_force);
  EXPECT_EQ(gpu.gpu_simulated, "16GB");
  EXPECT_FALSE(read({"-gpu", "a.dml"}).gpu_force);
  EXPECT_EQ(read({"-help"}).topic, "");
  EXPECT_EQ(read({"--help", "solve"}).topic, "solve");
  EXPECT_EQ(read({"--help", "-"}).topic, "-");
}

TEST(Options, ValuesAndSettings) {
  const Options o = read({"-seed", "-7", "--threads", "3", "--set", "a.b=c", "--set=d=e=f", "-config", "c.xml", "-v",
                          "--dry-run", "-trace", "t.json", "-exec", "singlenode", "-mem", "a.dml"});
  EXPECT_EQ(o.seed, -7);
  ASSERT_EQ(o.settings.command_line.size(), 3u);
  EXPECT_EQ(o.settings.command_line[0].key, "hopline.cp.parallel.threads");
  EXPECT_EQ(o.settings.command_line[1].value, "c");
  EXPECT_EQ(o.settings.command_line[2].value, "e=f");
  EXPECT_EQ(o.settings.config_file, "c.xml");
  EXPECT_TRUE(o.verbose && o.dry_run);
  EXPECT_EQ(o.trace, "t.json");
  EXPECT_EQ(o.ignored, (std::vector<std::string>{"-exec", "-mem"}));
}

TEST(Options, Errors) {
  EXPECT_EQ(refused({"--treads", "3", "a.dml"}), "unknown option --treads; did you mean --threads?");
  EXPECT_EQ(refused({"a.dml", "-seed"}), "option --seed: expected N, found nothing");
  EXPECT_EQ(refused({"a.dml", "-seed", "x"}).substr(0, 38), "option --seed: expected a whole number");
  EXPECT_EQ(refused({"--explain=hop", "a.dml"}).substr(0, 33), "option --explain: expected none, ");
  EXPECT_EQ(refused({"-exec", "mars", "a.dml"}),
            "option --exec: expected singlenode, hybrid, spark, hadoop, hybrid_spark, found 'mars'");
  EXPECT_EQ(refused({"-gpu", "sim:x", "a.dml"}), "option --gpu: expected a size such as sim:16GB, found 'sim:x'");
  EXPECT_EQ(refused({"-f", "a", "-s", "b"}), "more than one script: expected one of -f FILE and -s TEXT");
  EXPECT_EQ(refused({"--set", "x", "a.dml"}), "option --set: expected KEY=VALUE, found 'x'");
  EXPECT_EQ(refused({"--verbose=3", "a.dml"}), "option --verbose: expected no value, found '3'");
}

TEST(Help, EveryOperatorSettingAndOptionHasSome) {
  for (const OpFamily family : op_families())
    for (const Op& op : family) {
      if (op.hidden) continue;
      EXPECT_NE(topic_text(op.name).find(op.doc), std::string::npos) << op.name;
    }
  for (const Setting& row : settings()) EXPECT_NE(topic_text(row.key).find(row.help), std::string::npos);
  for (const OptionRow& row : option_rows()) {
    if (row.help.empty()) continue;
    EXPECT_NE(usage_text().find(row.help), std::string::npos);
    EXPECT_NE(topic_text(row.name).find(row.help), std::string::npos) << row.name;
    EXPECT_NE(bash_completion().find("--" + std::string(row.name)), std::string::npos);
  }
  EXPECT_THROW(topic_text("optlvel"), Error);
}

}  // namespace hopline
