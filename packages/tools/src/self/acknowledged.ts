// Acknowledged: how a tool that answers later hands over its answer at once.
// Owns the shape. Leaves making the report an envelope, committed with the run, to the runtime.
// I1  `acknowledgement` is what the run comes to now; `report` is the content of the report event that answers the call.
//
// An ASYNC_REQUIRED tool whose work ends inside its run returns this. One that works elsewhere returns any other value,
// and its report is sent by whoever does the work. A run that throws is a failed start: it answers itself.

export interface Acknowledged {
  readonly acknowledgement: string
  readonly report: string
}

/** The value a run returned, when it carries its own report. */
export const acknowledgedOf = (value: unknown): Acknowledged | undefined => {
  if (typeof value !== "object" || value === null || !("acknowledgement" in value) || !("report" in value)) {
    return undefined
  }
  const { acknowledgement, report } = value
  return typeof acknowledgement === "string" && typeof report === "string" ? { acknowledgement, report } : undefined
}
