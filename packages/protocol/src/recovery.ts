// Recovery: who acts next after an error. Every error of every room names one of these.

/**
 * retry: try again after a while, nothing is wrong with the input. drop-tick: forget what is in memory, the durable
 * state is right. park: stop until a known time. tell-owner: a person must know; work goes on. stop: a person must act.
 */
export type Recovery = "retry" | "drop-tick" | "park" | "tell-owner" | "stop"
