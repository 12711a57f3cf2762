#include "support/command_test.h"

namespace mayfly::testing {
namespace {

class GeoTest : public CommandTest {
 public:
  GeoTest() {
    Run({"GEOADD", "Sicily", "13.361389", "38.115556", "Palermo", "15.087269", "37.502669", "Catania"});
  }
};

}  // namespace

TEST_CASE_METHOD(GeoTest, "places are kept as scores of a sorted set, and come back") {
  CHECK(Run({"GEOADD", "Sicily", "CH", "13.361389", "38.115556", "Palermo", "13", "38", "new"}) ==
        Integer(1));
  CHECK(Run({"ZSCORE", "Sicily", "Palermo"}) == Bulk("3479099956230698"));
  CHECK(Run({"GEOPOS", "Sicily", "Palermo", "none"}) ==
        Array({Bulks({"13.361389338970184", "38.1155563954963"}), NullArray()}));
  Run({"GEOADD", "Gulf", "0", "0", "buoy"});
  CHECK(Run({"GEOPOS", "Gulf", "buoy"}) == Array({Bulks({"2.682209014892578e-6", "1.2673605809254695e-6"})}));
  CHECK(Run({"GEOHASH", "Sicily", "Palermo", "Catania", "none"}) ==
        Array({Bulk("sqc8b49rny0"), Bulk("sqdtr74hyu0"), Null()}));
  CHECK(Run({"GEODIST", "Sicily", "Palermo", "Catania"}) == Bulk("166274.1516"));
  CHECK(Run({"GEODIST", "Sicily", "Palermo", "Catania", "km"}) == Bulk("166.2742"));
  CHECK(Run({"GEODIST", "Sicily", "Palermo", "none"}) == Null());
  CHECK(Run({"GEOADD", "Sicily", "200", "0", "x"}) ==
        Error("ERR invalid longitude,latitude pair 200.000000,0.000000"));
}

TEST_CASE_METHOD(GeoTest, "GEOSEARCH finds the places in a circle or a box") {
  CHECK(Run({"GEOSEARCH", "Sicily", "FROMLONLAT", "15", "37", "BYRADIUS", "200", "km", "ASC"}) ==
        Bulks({"Catania", "Palermo"}));
  CHECK(Run({"GEOSEARCH", "Sicily", "FROMLONLAT", "15", "37", "BYRADIUS", "200", "km", "DESC", "COUNT", "1",
             "WITHDIST"}) == Array({Bulks({"Palermo", "190.4424"})}));
  CHECK(Run({"GEOSEARCH", "Sicily", "FROMMEMBER", "Palermo", "BYBOX", "10", "10", "km", "WITHHASH"}) ==
        Array({Array({Bulk("Palermo"), Integer(3479099956230698)})}));
  CHECK(Run({"GEOSEARCH", "Sicily", "FROMMEMBER", "none", "BYRADIUS", "1", "m"}) ==
        Error("ERR could not decode requested zset member"));
  CHECK(Run({"GEOSEARCH", "none", "FROMMEMBER", "none", "BYRADIUS", "1", "m"}) == Array({}));
}

TEST_CASE_METHOD(GeoTest, "what is found is stored with its place or its distance") {
  CHECK(Run({"GEOSEARCHSTORE", "to", "Sicily", "FROMLONLAT", "15", "37", "BYRADIUS", "100", "km"}) ==
        Integer(1));
  CHECK(Run({"ZRANGE", "to", "0", "-1", "WITHSCORES"}) == Bulks({"Catania", "3479447370796909"}));
  CHECK(Run({"GEORADIUS", "Sicily", "15", "37", "200", "km", "STOREDIST", "to"}) == Integer(2));
  CHECK(Run({"ZCOUNT", "to", "190", "191"}) == Integer(1));
  CHECK(Run({"GEORADIUSBYMEMBER", "Sicily", "Palermo", "200", "km"}) == Bulks({"Palermo", "Catania"}));
  CHECK(Run({"GEORADIUS_RO", "Sicily", "15", "37", "1", "km"}) == Array({}));
  CHECK(Run({"GEORADIUSBYMEMBER_RO", "Sicily", "Catania", "1", "km"}) == Bulks({"Catania"}));
  CHECK(Run({"GEORADIUSBYMEMBER_RO", "Sicily", "Catania", "1", "km", "STORE", "to"}) ==
        Error("ERR syntax error"));
  CHECK(Run({"GEORADIUS", "Sicily", "15", "37", "1", "km", "STORE", "to"}) == Integer(0));
  CHECK(Run({"EXISTS", "to"}) == Integer(0));
}

TEST_CASE_METHOD(GeoTest, "in RESP3 coordinates are doubles, distances are texts") {
  UseResp3();
  CHECK(Run({"GEOSEARCH", "Sicily", "FROMLONLAT", "15", "37", "BYRADIUS", "100", "km", "WITHDIST",
             "WITHCOORD"}) ==
        Array({Array({Bulk("Catania"), Bulk("56.4413"),
                      Array({Double("15.087267458438873"), Double("37.50266842333162")})})}));
}

}  // namespace mayfly::testing
