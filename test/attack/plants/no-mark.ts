// Planted: nothing outside the database says how far it had come.
import { HighMark } from "../../../packages/adapters/store-sqlite/src/files/safeguard.ts"

HighMark.prototype.write = () => {}
