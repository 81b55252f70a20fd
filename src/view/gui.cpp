#include "view/gui.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>

#include <backends/imgui_impl_glfw.h>
#include <imgui.h>

#include "render/gl_objects.h"

namespace pliant {
namespace {

constexpr const char* kVertex = R"(
layout(location = 0) in vec2 a_position;
layout(location = 1) in vec2 a_uv;
layout(location = 2) in vec4 a_color;
uniform vec2 u_size;
out vec2 v_uv;
out vec4 v_color;
void main() {
  v_uv = a_uv;
  v_color = a_color;
  gl_Position = vec4(2.0 * a_position.x / u_size.x - 1.0, 1.0 - 2.0 * a_position.y / u_size.y, 0.0, 1.0);
}
)";

constexpr const char* kFragment = R"(
in vec2 v_uv;
in vec4 v_color;
uniform sampler2D u_texture;
out vec4 o_color;
void main() { o_color = v_color * texture(u_texture, v_uv); }
)";

/// A font with all letters if the system has one; ImGui's own otherwise.
void load_font(float scale) {
  ImFontAtlas& fonts = *ImGui::GetIO().Fonts;
  for (const char* file :
       {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "/usr/share/fonts/dejavu/DejaVuSans.ttf",
        "/usr/share/fonts/TTF/DejaVuSans.ttf", "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf"}) {
    std::error_code error;
    if (std::filesystem::exists(file, error) && fonts.AddFontFromFileTTF(file, 14.0f * scale) != nullptr) return;
  }
  ImFontConfig config;
  config.SizePixels = 13.0f * scale;
  fonts.AddFontDefault(&config);
}

void set_style(float scale) {
  ImGui::StyleColorsDark();
  ImGuiStyle& style = ImGui::GetStyle();
  style.WindowRounding = 0;
  style.FrameRounding = style.GrabRounding = style.PopupRounding = style.ScrollbarRounding = 4;
  style.WindowBorderSize = 0;
  style.WindowPadding = {12, 10};
  style.FramePadding = {8, 4};
  style.ItemSpacing = {8, 6};
  style.ItemInnerSpacing = {8, 4};
  style.ScrollbarSize = 11;
  style.IndentSpacing = 10;
  const ImVec4 accent{0.93f, 0.49f, 0.19f, 1}, panel{0.105f, 0.115f, 0.135f, 1}, frame{0.19f, 0.205f, 0.235f, 1},
      raised{0.26f, 0.28f, 0.32f, 1}, header{0.155f, 0.17f, 0.195f, 1};
  ImVec4* c = style.Colors;
  c[ImGuiCol_Text] = {0.90f, 0.91f, 0.93f, 1};
  c[ImGuiCol_TextDisabled] = {0.58f, 0.61f, 0.66f, 1};
  c[ImGuiCol_WindowBg] = panel;
  c[ImGuiCol_PopupBg] = {0.13f, 0.14f, 0.165f, 1};
  c[ImGuiCol_Border] = {1, 1, 1, 0.08f};
  c[ImGuiCol_FrameBg] = frame, c[ImGuiCol_FrameBgHovered] = raised, c[ImGuiCol_FrameBgActive] = raised;
  c[ImGuiCol_Button] = frame, c[ImGuiCol_ButtonHovered] = raised;
  c[ImGuiCol_ButtonActive] = {accent.x, accent.y, accent.z, 0.8f};
  c[ImGuiCol_Header] = header, c[ImGuiCol_HeaderHovered] = frame, c[ImGuiCol_HeaderActive] = raised;
  c[ImGuiCol_CheckMark] = c[ImGuiCol_SliderGrab] = c[ImGuiCol_SliderGrabActive] = accent;
  c[ImGuiCol_ScrollbarBg] = panel;
  c[ImGuiCol_PlotLines] = c[ImGuiCol_PlotHistogram] = accent;
  style.ScaleAllSizes(scale);
}

}  // namespace

struct Gui::Gl {
  GlProgram program;
  GlVertexArray array = GlVertexArray::create();
  GlBuffer vertices = GlBuffer::create(), indices = GlBuffer::create();
  GlTexture font;

  Status create() {
    Result<GlProgram> made = GlProgram::create("user interface", "", kVertex, kFragment);
    if (!made) return made.error();
    program = std::move(*made);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    ImGui::GetIO().Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
    font = make_texture(GL_RGBA8, width, height);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    return {};
  }

  void begin(const ImDrawData& data) const {
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport(0, 0, static_cast<int>(data.DisplaySize.x * data.FramebufferScale.x),
               static_cast<int>(data.DisplaySize.y * data.FramebufferScale.y));
    glEnable(GL_BLEND);
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_CULL_FACE);
    glEnable(GL_SCISSOR_TEST);
    program.use();
    program.set("u_size", data.DisplaySize.x, data.DisplaySize.y);
    program.set("u_texture", 0);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, font.get());
    glBindVertexArray(array.get());
    glBindBuffer(GL_ARRAY_BUFFER, vertices.get());
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, indices.get());
  }

  /// Where a command's vertices begin; GLES 3.0 cannot add an offset to indices.
  static void set_attributes(std::size_t first) {
    const auto attribute = [&](GLuint index, GLint size, GLenum type, GLboolean normalized, std::size_t offset) {
      glEnableVertexAttribArray(index);
      glVertexAttribPointer(index, size, type, normalized, sizeof(ImDrawVert),
                            reinterpret_cast<const void*>(first * sizeof(ImDrawVert) + offset));
    };
    attribute(0, 2, GL_FLOAT, GL_FALSE, offsetof(ImDrawVert, pos));
    attribute(1, 2, GL_FLOAT, GL_FALSE, offsetof(ImDrawVert, uv));
    attribute(2, 4, GL_UNSIGNED_BYTE, GL_TRUE, offsetof(ImDrawVert, col));
  }

  static void draw_command(const ImDrawCmd& command, const ImDrawData& data) {
    const ImVec2 scale = data.FramebufferScale;
    const int left = static_cast<int>(std::max(command.ClipRect.x * scale.x, 0.0f)),
              right = static_cast<int>(command.ClipRect.z * scale.x);
    const int top = static_cast<int>(std::max(command.ClipRect.y * scale.y, 0.0f)),
              bottom = static_cast<int>(command.ClipRect.w * scale.y);
    if (right <= left || bottom <= top) return;
    glScissor(left, static_cast<int>(data.DisplaySize.y * scale.y) - bottom, right - left, bottom - top);
    set_attributes(command.VtxOffset);
    glDrawElements(GL_TRIANGLES, static_cast<GLsizei>(command.ElemCount),
                   sizeof(ImDrawIdx) == 2 ? GL_UNSIGNED_SHORT : GL_UNSIGNED_INT,
                   reinterpret_cast<const void*>(command.IdxOffset * sizeof(ImDrawIdx)));
  }

  void draw(const ImDrawData& data) const {
    begin(data);
    for (int i = 0; i < data.CmdListsCount; ++i) {
      const ImDrawList& list = *data.CmdLists[i];
      glBufferData(GL_ARRAY_BUFFER, list.VtxBuffer.Size * static_cast<GLsizeiptr>(sizeof(ImDrawVert)),
                   list.VtxBuffer.Data, GL_STREAM_DRAW);
      glBufferData(GL_ELEMENT_ARRAY_BUFFER, list.IdxBuffer.Size * static_cast<GLsizeiptr>(sizeof(ImDrawIdx)),
                   list.IdxBuffer.Data, GL_STREAM_DRAW);
      for (const ImDrawCmd& command : list.CmdBuffer) draw_command(command, data);
    }
    glBindVertexArray(0);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_BLEND);
  }
};

Result<std::unique_ptr<Gui>> Gui::create(const Window& window) {
  std::unique_ptr<Gui> out(new Gui());
  out->scale_ = std::clamp(window.content_scale(), 1.0f, 4.0f);
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // the layout is fixed: nothing to remember, no file left behind
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  load_font(out->scale_);
  set_style(out->scale_);
  ImGui_ImplGlfw_InitForOpenGL(window.handle(), false);
  auto gl = std::make_unique<Gl>();
  if (const Status s = gl->create(); !s.ok()) return s.error();
  out->gl_ = std::move(gl);
  return out;
}

Gui::~Gui() {
  gl_.reset();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
}

void Gui::begin_frame() {
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
}

void Gui::draw() {
  ImGui::Render();
  gl_->draw(*ImGui::GetDrawData());
}

}  // namespace pliant
