#include "base/metrics.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

namespace comanda::metrics {
namespace {

TEST(Metrics, AreSortedWithOneHeadForEachName) {
  Registry registry;
  Counter ok(registry, "requests_total", "Requests answered.", R"(class="2xx")");
  Gauge size(registry, "database_bytes", "Size of the file.", [] { return 4096.0; });
  Counter refused(registry, "requests_total", "Requests answered.", R"(class="4xx")");
  ok.Add();
  ok.Add(2);

  EXPECT_EQ(registry.Text(),
            "# HELP database_bytes Size of the file.\n"
            "# TYPE database_bytes gauge\n"
            "database_bytes 4096\n"
            "# HELP requests_total Requests answered.\n"
            "# TYPE requests_total counter\n"
            "requests_total{class=\"2xx\"} 3\n"
            "requests_total{class=\"4xx\"} 0\n");
}

TEST(Metrics, HistogramsCountUpToEachBoundInSeconds) {
  Registry registry;
  Histogram commit(registry, "commit_seconds", "Commits.");
  commit.ObserveUs(100);
  commit.ObserveUs(101);
  commit.ObserveUs(20'000'000);
  commit.ObserveUs(-5);

  const std::string text = registry.Text();

  EXPECT_NE(text.find("# TYPE commit_seconds histogram\n"), std::string::npos);
  EXPECT_NE(text.find("commit_seconds_bucket{le=\"0.0001\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("commit_seconds_bucket{le=\"0.00025\"} 3\n"), std::string::npos);
  EXPECT_NE(text.find("commit_seconds_bucket{le=\"10\"} 3\n"), std::string::npos);
  EXPECT_NE(text.find("commit_seconds_bucket{le=\"+Inf\"} 4\n"), std::string::npos);
  EXPECT_NE(text.find("commit_seconds_sum 20.000201\n"), std::string::npos);
  EXPECT_NE(text.find("commit_seconds_count 4\n"), std::string::npos);
}

TEST(Metrics, HistogramsKeepTheirLabels) {
  Registry registry;
  Histogram commit(registry, "commit_seconds", "Commits.", R"(db="live")");

  const std::string text = registry.Text();

  EXPECT_NE(text.find("commit_seconds_bucket{db=\"live\",le=\"0.001\"} 0\n"), std::string::npos);
  EXPECT_NE(text.find("commit_seconds_sum{db=\"live\"} 0\n"), std::string::npos);
}

TEST(Metrics, LeaveWithTheirOwner) {
  Registry registry;
  auto counter = std::make_unique<Counter>(registry, "a_total", "A.");
  ASSERT_NE(registry.Text(), "");

  counter.reset();

  EXPECT_EQ(registry.Text(), "");
}

TEST(Metrics, GaugesShowFractionsAndTheAbsenceOfNumbers) {
  Registry registry;
  double value = 0.25;
  Gauge gauge(registry, "g", "Line one\nand a \\.", [&value] { return value; });
  EXPECT_EQ(registry.Text(), "# HELP g Line one\\nand a \\\\.\n# TYPE g gauge\ng 0.25\n");

  value = 252'123'456'789.0;
  EXPECT_NE(registry.Text().find("\ng 252123456789\n"), std::string::npos);

  value = 0.1;
  EXPECT_NE(registry.Text().find("\ng 0.1\n"), std::string::npos);

  value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(registry.Text().find("\ng NaN\n"), std::string::npos);
  value = -std::numeric_limits<double>::infinity();
  EXPECT_NE(registry.Text().find("\ng -Inf\n"), std::string::npos);
}

}  // namespace
}  // namespace comanda::metrics
