// OpenedPages: the pages of one assistant of the fake API besides Live, each with something opened: its name, and its path behind the assistant.

export const openedPages = [
  ["context", "context"],
  ["context-difference", "context?tick=120&with=118&open=system_prompt"],
  ["timeline", "timeline?open=c499996.c499986"],
  ["timeline-trace", "timeline?level=trace&tick=99990"],
  ["memory-blocks", "memory?open=block-0&version=9"],
  ["memory-facts", "memory?tab=facts&open=fact_7_0"],
  ["memory-profiles", "memory?tab=profiles"],
  ["memory-journal", "memory?tab=journal"],
  ["memory-recall", "memory?tab=recall&q=berth"],
  ["compactions", "compactions"],
  ["dreams", "dreams"],
  ["subagents", "subagents"],
  ["replay", "replay"],
  ["fork", "fork/12"]
] as const
