// Pages: the list of them, as navigation and keys know them.
// Owns titles, order and keys. Leaves their routes to router.tsx.

export const fleetPages = [
  { page: "overview", title: "Overview", to: "/", key: "h" },
  { page: "fleet", title: "Fleet", to: "/fleet", key: "f" },
  { page: "approvals", title: "Approvals", to: "/approvals", key: "a" },
  { page: "queues", title: "Queues", to: "/queues", key: "q" },
  { page: "usage", title: "Usage", to: "/usage", key: "u" },
  { page: "prompts", title: "Prompts", to: "/prompts", key: "i" },
  { page: "system", title: "System", to: "/system", key: "s" }
] as const

export const assistantPages = [
  { page: "live", title: "Live", to: "/a/$id", key: "l" },
  { page: "context", title: "Context", to: "/a/$id/context", key: "c" },
  { page: "timeline", title: "Timeline", to: "/a/$id/timeline", key: "t" },
  { page: "memory", title: "Memory", to: "/a/$id/memory", key: "m" },
  { page: "compactions", title: "Compactions", to: "/a/$id/compactions", key: "o" },
  { page: "dreams", title: "Dreams", to: "/a/$id/dreams", key: "d" },
  { page: "subagents", title: "Sub-agents & budget", to: "/a/$id/subagents", key: "b" },
  { page: "replay", title: "Replay", to: "/a/$id/replay", key: "r" },
  { page: "fork", title: "Playground", to: "/a/$id/fork", key: "p" }
] as const
