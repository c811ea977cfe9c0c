// Planted: an answer of the model wakes none of those that wait for it; only their own timers do.
import { OutageBook } from "../../../packages/runtime/src/outages/outage-book.ts"

OutageBook.prototype.relieved = () => []
