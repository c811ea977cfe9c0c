// Schemas: a name for each test, so that none finds what another one left.
// Owns the counting. Leaves making them to the store.

let count = 0

export const aSchema = (): string => `reverie_${++count}`
