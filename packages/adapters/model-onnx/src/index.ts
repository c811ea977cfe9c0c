export { embedderIn, flawOfDirectory, isDirectory } from "./onnx-embedder.ts"
