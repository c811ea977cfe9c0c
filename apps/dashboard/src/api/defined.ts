// Defined: an object without the properties that are undefined, as protocol's function of this name makes it.
// Owns the page's copy: the page takes types from other packages and no code, so that none of it is loaded along.

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T]
type Defined<T> = Omit<T, OptionalKeys<T>> & { [K in OptionalKeys<T>]?: Exclude<T[K], undefined> }

/** Leaves out what is undefined, for an object with optional properties. */
export const defined = <const T extends object>(properties: T): Defined<T> =>
  Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as Defined<T>
