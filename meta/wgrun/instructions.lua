---@meta
-- Printed by `wgrun help --annotations meta`, for the Lua language server.

---@class wgrun.k
local k = {}

