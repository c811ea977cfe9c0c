// What is used of a package that only those install who embed with a directory.
declare module "@huggingface/transformers" {
  interface Extracted {
    readonly tolist: () => ReadonlyArray<ReadonlyArray<number>>
  }
  type Extractor = (
    texts: ReadonlyArray<string>,
    how: { readonly pooling: "cls" | "mean"; readonly normalize: true }
  ) => Promise<Extracted>
  export const env: { allowRemoteModels: boolean; localModelPath: string }
  export const pipeline: (
    task: "feature-extraction",
    model: string,
    how: { readonly dtype: string }
  ) => Promise<Extractor>
}
