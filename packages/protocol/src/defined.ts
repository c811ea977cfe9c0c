// Defined: an object without the properties that are undefined.
// Owns that one rule for all optional properties: with `exactOptionalPropertyTypes` a property is there, or it is not.
// D1  What is undefined is left out; everything else, null, false, 0 and "" included, stays as it is, in its order.

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T]

/** `T`, each property that may be undefined made optional. */
type Defined<T> = Omit<T, OptionalKeys<T>> & { [K in OptionalKeys<T>]?: Exclude<T[K], undefined> }

/**
 * Leaves out what is undefined, for an object with optional properties:
 *
 * @example
 * const view = { id, ...defined({ reason, until }) }
 */
export const defined = <const T extends object>(properties: T): Defined<T> =>
  Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as Defined<T>
