// A glTF 2.0 document with its binary data: every offset, stride, count and index is checked before it is followed.
//
// Like TextReader it keeps the first failure, with the field as error; what is read after it is empty.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "io/number_type.h"
#include "pliant/result.h"

namespace pliant {

class GltfDocument {
 public:
  /// Reads the text and all buffers of a .gltf or .glb. External buffers are found beside `file`, and only there.
  GltfDocument(const std::filesystem::path& file, std::string_view content);

  bool ok() const { return status_.ok(); }
  const Error& error() const { return status_.error(); }
  void fail(const std::string& field, std::string message, Error::Code code = Error::Code::CannotRead);

  const nlohmann::json& root() const { return root_; }
  /// Member `name` of an object, or null. A wrong type is a failure.
  const nlohmann::json* object(const nlohmann::json& of, const char* name, const std::string& field);
  const nlohmann::json* array(const nlohmann::json& of, const char* name, const std::string& field);
  std::uint64_t integer(const nlohmann::json& of, const char* name, std::uint64_t fallback, const std::string& field);
  /// As `integer`, or `kNone` where there is no such member; fails if it is not less than `size`.
  std::size_t index(const nlohmann::json& of, const char* name, std::size_t size, const std::string& field);
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  /// Exactly `count` finite numbers.
  std::vector<double> numbers(const nlohmann::json& of, const std::string& field, std::size_t count);

  /// The numbers of an accessor of `components` numbers each, normalised integers as fractions.
  std::vector<float> read_floats(std::size_t accessor, std::size_t components);
  std::vector<std::uint32_t> read_indices(std::size_t accessor);
  std::uint64_t data_bytes() const { return total_bytes_; }  ///< of all buffers
  std::size_t accessor_count() const { return accessors_ ? accessors_->size() : 0; }

 private:
  /// Where the elements of an accessor (or of its sparse part) lie.
  struct Elements {
    const char* data = nullptr;  ///< null: all zero
    std::uint64_t count = 0, stride = 0;
    std::size_t components = 0;
    NumberType type{};
    bool normalized = false;
  };

  void parse(std::string_view content);
  std::string_view split_glb(std::string_view content);
  void parse_json(std::string_view text);
  void check_asset();
  void read_buffers();
  void read_buffer(const nlohmann::json& buffer, std::size_t i);
  std::string decode_data(const std::string& uri, const std::string& field);
  std::string read_external(const std::string& uri, const std::string& field);

  Elements accessor(std::size_t i, std::size_t components);
  void locate(Elements& e, const nlohmann::json& of, const std::string& field, bool may_stride);
  NumberType component_type(const nlohmann::json& of, const std::string& field);
  template <typename Store>
  void visit(std::size_t i, const Elements& e, Store store);
  std::vector<std::uint64_t> sparse_indices(const nlohmann::json& sparse, std::uint64_t count,
                                            const std::string& field);

  std::filesystem::path file_;
  Status status_;
  nlohmann::json root_;
  const nlohmann::json *accessors_ = nullptr, *views_ = nullptr;
  bool has_bin_ = false;
  std::string_view bin_;            ///< the binary chunk of a .glb
  std::vector<std::string> owned_;  ///< buffers that were decoded or read
  std::vector<std::string_view> buffers_;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace pliant
