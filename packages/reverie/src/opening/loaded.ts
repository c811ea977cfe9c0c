// Loaded: which classes behind the doors of this package are loaded.
// Owns the list alone, so that neither a door nor what is behind it knows the other for its sake.
// L1  A class enters itself when its module is evaluated: before that there is no instance of it.

/** What a door asks of a class. */
export interface LoadedClass {
  readonly prototype: object
  readonly [Symbol.hasInstance]: (value: unknown) => boolean
}

export const loaded: { Fleet?: LoadedClass; FleetReader?: LoadedClass } = {}
