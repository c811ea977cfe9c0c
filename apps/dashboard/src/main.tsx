// The page: everything of it hangs below here.

import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { questions } from "./api/questions.ts"
import { router } from "./shell/router.tsx"
import { applyTheme } from "./shell/theme.ts"
import { startLive } from "./live/live.ts"

applyTheme()
startLive()

const place = document.getElementById("page")
if (place === null) throw new Error("index.html has no element called page")
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={questions}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>
)
