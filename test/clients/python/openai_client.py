"""Asks with OpenAI's official client, as standard input says: one JSON object a line, each way.

In: {"api", "base_url", "retries", "way", "model", "turns", "cap", "leaves", "tool"}; for every {"look": ...} that is
written, one line with what is seen. Out: {"piece"} of a streamed answer, or every answer of a talk, {"look"}, and at last {"text"} or {"failure"}.
"""

import json
import sys

import openai


def say(**what):
    print(json.dumps(what), flush=True)


def look(arguments):
    say(look=json.loads(arguments)["at"])
    return json.loads(sys.stdin.readline())


class Chat:
    def __init__(self, client, ask):
        self.complete = client.chat.completions.create
        self.common = {"model": ask["model"], "max_completion_tokens": ask["cap"]}
        self.tools = [{"type": "function", "function": {k: v for k, v in ask["tool"].items() if k != "type"}}]

    def ask(self, turns):
        return self.complete(messages=turns, **self.common).choices[0].message.content or ""

    def pieces(self, turns):
        with self.complete(messages=turns, stream=True, **self.common) as stream:
            for chunk in stream:
                if chunk.choices and chunk.choices[0].delta.content:
                    yield chunk.choices[0].delta.content

    def step(self, turns, streams):
        """The text of the next answer, or None where the model looked; what follows is in turns."""
        if streams:
            calls, text = self.streamed(turns)
        else:
            message = self.complete(messages=turns, tools=self.tools, **self.common).choices[0].message
            calls, text = [call.model_dump() for call in message.tool_calls or []], message.content or ""
        if not calls:
            return text
        turns.append({"role": "assistant", "content": text or None, "tool_calls": calls})
        for call in calls:
            seen = look(call["function"]["arguments"])
            turns.append({"role": "tool", "tool_call_id": call["id"], "content": seen})
        return None

    def streamed(self, turns):
        calls, text = {}, ""
        for chunk in self.complete(messages=turns, tools=self.tools, stream=True, **self.common):
            delta = chunk.choices[0].delta
            text += delta.content or ""
            for piece in delta.tool_calls or []:
                call = calls.setdefault(piece.index, {"id": piece.id, "type": "function", "function": {"name": "", "arguments": ""}})
                call["function"]["name"] += piece.function.name or ""
                call["function"]["arguments"] += piece.function.arguments or ""
        return list(calls.values()), text


class Responses:
    def __init__(self, client, ask):
        self.respond = client.responses.create
        self.common = {"model": ask["model"], "max_output_tokens": ask["cap"]}
        self.tools = [{**ask["tool"], "strict": False}]

    def ask(self, turns):
        return self.respond(input=turns, **self.common).output_text

    def pieces(self, turns):
        with self.respond(input=turns, stream=True, **self.common) as stream:
            for event in stream:
                if event.type == "response.output_text.delta":
                    yield event.delta

    def step(self, turns, streams):
        response = self.respond(input=turns, tools=self.tools, stream=streams, **self.common)
        if streams:
            response = [event for event in response if event.type == "response.completed"][-1].response
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        for call in calls:
            turns.append({"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments})
            turns.append({"type": "function_call_output", "call_id": call.call_id, "output": look(call.arguments)})
        return None


def talk(endpoint, said):
    """Goes on to the next message when the last one is answered; every other request is a stream."""
    turns, streams = [], True
    for message in said:
        turns.append(message)
        text = None
        while message["role"] == "user" and text is None:
            streams = not streams
            text = endpoint.step(turns, streams)
        if text is not None:
            turns.append({"role": "assistant", "content": text})
            say(piece=text)
    return text


def answer(ask):
    client = openai.OpenAI(base_url=ask["base_url"], api_key="none", max_retries=ask["retries"])
    endpoint = {"chat": Chat, "responses": Responses}[ask["api"]](client, ask)
    turns = ask["turns"]
    if ask["way"] == "ask":
        return endpoint.ask(turns)
    if ask["way"] == "talk":
        return talk(endpoint, turns)
    if ask["way"] == "stream":
        text = ""
        for piece in endpoint.pieces(turns):
            say(piece=piece)
            text += piece
            if ask["leaves"]:
                return text
        return text
    while True:
        text = endpoint.step(turns, ask["way"] == "tool-stream")
        if text is not None:
            return text


asked = json.loads(sys.stdin.readline())
try:
    say(text=answer(asked))
except openai.APIStatusError as error:
    say(failure={"status": error.status_code, "retryAfter": error.response.headers.get("retry-after")})
