"""Operations of the tag tasks, with the examples of the document."""

from specd.testing import Client


def test_list_tasks(client: Client) -> None:
    response = client.get("/tasks?completed=false&after=0&limit=20")
    assert response.status_code == 200


def test_create_task(client: Client) -> None:
    response = client.post("/tasks", json={"text": "Buy milk"})
    assert response.status_code == 201


def test_complete_task(client: Client) -> None:
    client.post("/tasks", json={"text": "Buy milk"})
    response = client.post("/tasks/1/complete")
    assert response.status_code == 200
    assert client.get("/tasks?completed=false").json() == {"tasks": []}


def test_complete_task_rejects_an_unknown_id(client: Client) -> None:
    response = client.post("/tasks/7/complete")
    assert response.status_code == 404
    assert response.json()["code"] == "task_not_found"
