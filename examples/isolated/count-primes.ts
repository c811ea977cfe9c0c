// Runs in a process of its own: it may take all the time and memory that it was given, and no one else waits.

import type { IsolatedRun } from "reverie"

const isPrime = (number: number): boolean => {
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false
  return number > 1
}

export default ({ below }: { readonly below: number }, { assistant }: IsolatedRun): string => {
  let count = 0
  for (let number = 2; number < below; number++) if (isPrime(number)) count++
  return `${count} primes below ${below}, counted for ${assistant}`
}
