// Vite: how the page is built.
// Owns the chunks: the parts that every page needs come first, a page and what it alone draws with come when it is opened.

import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

const packages = (...names: ReadonlyArray<string>) =>
  new RegExp(`[\\\\/]node_modules[\\\\/](${names.join("|")})[\\\\/]`)

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  build: {
    // `light-dark()` and nesting are kept as they stand.
    target: ["chrome125", "firefox128", "safari18"],
    outDir: "dist",
    emptyOutDir: true,
    manifest: true,
    modulePreload: { polyfill: false },
    // Nothing is written into the page or the styles as data: the content policy stays simple.
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        chunkFileNames: ({ facadeModuleId, name }) =>
          `assets/${/pages[\\/]([a-z]+)[\\/]page/.exec(facadeModuleId ?? "")?.[1] ?? name}-[hash].js`,
        codeSplitting: {
          groups: [
            { name: "react", test: packages("react", "react-dom", "scheduler") },
            { name: "tanstack", test: packages("@tanstack[\\\\/](?!react-virtual|virtual-core)[^\\\\/]+") },
            { name: "graph", test: packages("@xyflow", "d3-[a-z]+", "zustand", "classcat") },
            { name: "widgets", test: packages("@base-ui", "@floating-ui", "tabbable", "reselect") }
          ]
        }
      }
    }
  },
  server: { proxy: { "/v1": process.env["REVERIE_URL"] ?? "http://127.0.0.1:4000" } }
})
