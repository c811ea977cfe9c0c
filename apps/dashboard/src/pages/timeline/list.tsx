// List: the rows that are in view, each as high as it is, and the keys that move between them.
// L1  However many there are, those in view are drawn, and a few around them.
// L2  What is new waits above while one reads further down: nothing moves under the eyes.
// L3  Going on by itself ends after a few pages without anything to show; then a button goes on.

import { useVirtualizer } from "@tanstack/react-virtual"
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react"
import { useKeys } from "../../shell/keys.ts"
import { Row } from "./row.tsx"
import type { View } from "./story.ts"
import type { Level } from "./search.ts"

/** As it stands in the styles: a guess that is right moves nothing when it is measured. */
const ROW_HEIGHT = 34
const NEAR_TOP = 24

interface ListProps {
  readonly id: string
  readonly rows: ReadonlyArray<View>
  readonly level: Level
  readonly isOpen: (from: number) => boolean
  readonly onToggle: (from: number) => void
  /** The last row came into view. */
  readonly onEnd: () => void
  /** Below the last row. */
  readonly foot: ReactNode
}

const moves: Readonly<Record<string, (at: number, total: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + 15,
  PageUp: (at) => at - 15,
  Home: () => 0,
  End: (_, total) => total - 1
}

/** Rows above the first one that was there when one scrolled away are held back. */
const useHeld = (rows: ReadonlyArray<View>) => {
  const [held, hold] = useState<number>()
  const first =
    held === undefined
      ? 0
      : Math.max(
          0,
          rows.findIndex(({ from }) => from <= held)
        )
  const onScroll = (top: number) => {
    if (top <= NEAR_TOP) hold(undefined)
    else if (held === undefined) hold(rows[0]?.from)
  }
  return { shown: first === 0 ? rows : rows.slice(first), waiting: first, onScroll }
}

const useList = ({ onEnd, onToggle, rows }: ListProps) => {
  const scroller = useRef<HTMLDivElement>(null)
  const [current, setCurrent] = useState(-1)
  const held = useHeld(rows)
  const { shown } = held
  const virtual = useVirtualizer({
    count: shown.length + 1,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => shown[index]?.from ?? "foot",
    overscan: 8,
    useFlushSync: false
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= shown.length) onEnd()
  }, [last, shown.length, onEnd])
  const go = (to: number) => {
    const next = Math.max(0, Math.min(shown.length - 1, to))
    setCurrent(next)
    virtual.scrollToIndex(next, { align: "auto" })
    scroller.current?.focus({ preventScroll: true })
  }
  const toggle = () => {
    const view = shown[current]
    if (view !== undefined) onToggle(view.from)
  }
  useKeys({ j: () => go(current + 1), k: () => go(current - 1), x: toggle })
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroller.current) return
    const move = moves[event.key]
    if (move !== undefined) go(move(current, shown.length))
    else if (event.key === "Enter" || event.key === " ") toggle()
    else return
    event.preventDefault()
  }
  // There, what was held back comes by itself; sooner, it would be measured against the place that is left.
  const toTop = () => scroller.current?.scrollTo({ top: 0 })
  return { scroller, current, held, virtual, items, onKeyDown, toTop }
}

export const List = (props: ListProps) => {
  const { foot, id, isOpen, level, onToggle } = props
  const { current, held, items, onKeyDown, scroller, toTop, virtual } = useList(props)
  const { shown, waiting } = held
  return (
    <div className="relative min-h-0 flex-1">
      {waiting === 0 ? null : (
        <button type="button" className="button button-small timeline-newer" onClick={toTop} data-newer={waiting}>
          {waiting} newer ↑
        </button>
      )}
      <div
        ref={scroller}
        className="timeline-scroller"
        tabIndex={0}
        role="region"
        aria-label="Timeline"
        data-timeline={level}
        data-total={shown.length}
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget }) => held.onScroll(currentTarget.scrollTop)}
      >
        <div role="list" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const view = shown[index]
            return (
              <div
                key={key}
                ref={virtual.measureElement}
                role="listitem"
                className="timeline-item"
                data-index={index}
                style={{ transform: `translateY(${start}px)` }}
              >
                {view === undefined ? (
                  foot
                ) : (
                  <Row
                    id={id}
                    view={view}
                    level={level}
                    isOpen={isOpen(view.from)}
                    isCurrent={index === current}
                    onToggle={onToggle}
                  />
                )}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}
