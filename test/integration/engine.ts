// Engine: the Docker engine of this machine, as far as the integration tests need one.
// Owns finding it, and whether it has an image or can pull it. Leaves what runs in a container to docker, the end of
// containers whose run was killed to the keeper.
// E1  An engine that does not answer is passed over, whatever DOCKER_HOST says.
// E2  An image is pulled before a suite is promised a server. One that can not be had is a reason, never a failure.
// E3  What one process of a run could not pull, the next one does not try again: the reason is handed on.

import type { ContainerRuntimeClient } from "testcontainers"

export interface Engine {
  /** Why no container of the image can be started; undefined when one can. */
  readonly lackOf: (image: string) => Promise<string | undefined>
}

const PULL_MILLIS = 10 * 60_000

/** Where one process of a run tells the next what could not be had: a JSON object, reasons by image. */
export const LACKS = "REVERIE_INTEGRATION_LACKS"

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).trim()

/** The sentence of the engine, without what surrounds it. */
const plainReason = (cause: unknown): string =>
  reasonOf(cause)
    .replace(/^\(HTTP code \d+\) [^-]*- /, "")
    .split("\n")[0] ?? ""

const late = (): Promise<never> =>
  new Promise((_, reject) => {
    setTimeout(() => reject(new Error("it was not there after ten minutes")), PULL_MILLIS).unref()
  })

/** Images as the client of an engine answers for them. */
export interface Images {
  readonly exists: (image: string) => Promise<boolean>
  readonly pull: (image: string) => Promise<void>
}

export const engineOver = (images: Images, known: Readonly<Record<string, string>> = {}): Engine => {
  const asked = new Map<string, Promise<string | undefined>>(
    Object.entries(known).map(([image, reason]) => [image, Promise.resolve(reason)])
  )
  const ask = async (image: string): Promise<string | undefined> => {
    try {
      if (await images.exists(image)) return undefined
      await Promise.race([images.pull(image), late()])
      return (await images.exists(image)) ? undefined : "the pull ended without it"
    } catch (cause) {
      return plainReason(cause)
    }
  }
  return {
    lackOf: (image) => {
      const answer = asked.get(image) ?? ask(image)
      asked.set(image, answer)
      return answer
    }
  }
}

/** Loaded where it is used: it takes a second, and nothing of it is needed where no engine is. */
export const findClient = async (): Promise<ContainerRuntimeClient | undefined> => {
  const { getContainerRuntimeClient } = await import("testcontainers")
  return getContainerRuntimeClient().catch(() => undefined)
}

const knownLacks = (): Readonly<Record<string, string>> =>
  JSON.parse(process.env[LACKS] ?? "{}") as Readonly<Record<string, string>>

const find = async (): Promise<Engine | undefined> => {
  const client = await findClient()
  if (client === undefined) return undefined
  const { ImageName } = await import("testcontainers")
  const images: Images = {
    exists: (image) => client.image.exists(ImageName.fromString(image)),
    pull: (image) => client.image.pull(ImageName.fromString(image))
  }
  return engineOver(images, knownLacks())
}

let found: Promise<Engine | undefined> | undefined

/** Undefined where none answers. Looked for once. */
export const findEngine = (): Promise<Engine | undefined> => (found ??= find())
