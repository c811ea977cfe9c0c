// Confirm: asks before something is changed, and says first how much it would change.
// O1  Where the server can count without doing, the count stands in the question, and the button waits for it.

import { type ReactNode, type RefObject, useState } from "react"
import { Dialog as Base } from "@base-ui/react/dialog"
import { type Trouble, troubleOf } from "../../api/client.ts"
import { Failed } from "../states.tsx"

// Dialog: a window above the page. It is loaded when the first one opens: import what uses it with `lazy`.

interface DialogProps {
  readonly title: string
  readonly narrow?: boolean
  /** Where the focus goes; to the first that can have it where it is not said. */
  readonly first?: RefObject<HTMLElement | null>
  readonly onClose: () => void
  readonly children: ReactNode
}

export const Dialog = ({ children, first, narrow = false, onClose, title }: DialogProps) => (
  <Base.Root open onOpenChange={(open) => (open ? undefined : onClose())}>
    <Base.Portal>
      <Base.Backdrop className="backdrop" />
      <Base.Popup
        className={narrow ? "dialog dialog-narrow" : "dialog"}
        data-dialog={title}
        initialFocus={first ?? true}
      >
        <header className="mb-4 flex items-center justify-between gap-4">
          <Base.Title className="text-[1.1rem] font-semibold">{title}</Base.Title>
          <Base.Close className="button button-quiet button-small" aria-label="Close: Esc">
            <kbd>Esc</kbd>
          </Base.Close>
        </header>
        {children}
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
)

export interface ConfirmProps {
  readonly title: string
  readonly children: ReactNode
  /** What the button says: the verb. */
  readonly verb: string
  readonly danger?: boolean
  /** A reason may be given; it stands in the audit log. */
  readonly asksReason?: boolean
  /** Not yet known whether there is anything to do. */
  readonly waiting?: boolean
  readonly onConfirm: (reason: string | undefined) => Promise<unknown>
  readonly onClose: () => void
}

export const Confirm = ({
  asksReason = false,
  children,
  danger = false,
  onClose,
  onConfirm,
  title,
  verb,
  waiting = false
}: ConfirmProps) => {
  const [reason, write] = useState("")
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<Trouble>()
  const go = () => {
    setBusy(true)
    onConfirm(reason.trim() === "" ? undefined : reason.trim()).then(onClose, (error: unknown) => {
      setBusy(false)
      setTrouble(troubleOf(error))
    })
  }
  return (
    <Dialog title={title} narrow onClose={onClose}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          go()
        }}
      >
        <div className="text-ink-2">{children}</div>
        {asksReason ? (
          <label className="block space-y-1">
            <span className="label">Reason (stands in the audit log)</span>
            <input
              className="field w-full"
              name="reason"
              maxLength={2_000}
              value={reason}
              onChange={({ target }) => write(target.value)}
            />
          </label>
        ) : null}
        {trouble === undefined ? null : <Failed trouble={trouble} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className={danger ? "button button-danger" : "button button-primary"}
            disabled={busy || waiting}
            data-confirm={verb}
          >
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
